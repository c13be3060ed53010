import { seededRandom } from '../../../run/src/show/arguments.ts';

/** What the receiver does with a request. */
export type Behaviour =
  | { readonly kind: 'ok' }
  /** It is told when to come again. */
  | { readonly kind: 'later'; readonly status: 429 | 503; readonly form: 'seconds' | 'date' }
  | { readonly kind: 'error' }
  /** The application has the delivery, and the connection breaks before the answer. */
  | { readonly kind: 'reset' }
  /** The application has the delivery, and the answer comes when nobody waits for it any more. */
  | { readonly kind: 'slow' };

const FAILING = 0.3;
/** Of one delivery it fails no more requests, so that the end of the show is in sight. */
const MOST_FAULTS = 5;

const FAULTS: readonly Behaviour[] = [
  { kind: 'later', status: 503, form: 'seconds' },
  { kind: 'later', status: 429, form: 'date' },
  { kind: 'later', status: 503, form: 'date' },
  { kind: 'later', status: 429, form: 'seconds' },
  { kind: 'error' },
  { kind: 'reset' },
  { kind: 'slow' },
];

/** The same for the same seed, in whatever order the deliveries come. */
export function behaviourOf(seed: number, event: number, request: number): Behaviour {
  const random = seededRandom(seed + event * 1_009 + request * 1_000_003);
  if (random() >= FAILING || request > MOST_FAULTS) return { kind: 'ok' };
  return FAULTS[Math.floor(random() * FAULTS.length)] ?? { kind: 'error' };
}
