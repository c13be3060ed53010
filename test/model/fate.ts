import fc from 'fast-check';

/** What becomes of one call to the store on its way there and back. Times are milliseconds of the store's clock. */
export interface Fate {
  /** When the request takes effect, counted from its sending: never for one that is lost, twice for one that is repeated. */
  readonly effects: readonly number[];
  /** When the answer arrives, counted from the first effect (or from the sending); null for never. */
  readonly answerAfter: number | null;
  /** Whether the answer is the reply or an error. An error may come though the request took effect. */
  readonly answer: 'reply' | 'error';
  readonly reports: 'in order' | 'reversed and repeated' | 'one missing';
}

export const PROMPT: Fate = { effects: [0], answerAfter: 0, answer: 'reply', reports: 'in order' };

const delayMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 400 }) },
  { weight: 3, arbitrary: fc.integer({ min: 400, max: 5_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 5_000, max: 40_000 }) },
);

export const fates: fc.Arbitrary<Fate> = fc.record({
  effects: fc.oneof(
    { weight: 5, arbitrary: fc.tuple(delayMs) },
    { weight: 1, arbitrary: fc.tuple(delayMs, delayMs) },
    { weight: 2, arbitrary: fc.constant([]) },
  ),
  answerAfter: fc.oneof({ weight: 4, arbitrary: delayMs }, { weight: 1, arbitrary: fc.constant(null) }),
  answer: fc.constantFrom('reply', 'reply', 'reply', 'error'),
  reports: fc.constantFrom('in order', 'in order', 'reversed and repeated', 'one missing'),
});
