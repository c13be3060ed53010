import { expect, test } from 'vitest';
import { seededRandom } from '../../lab/src/random.ts';
import { drawBehaviour } from '../src/worker/behave.ts';

test('every behaviour comes up, and most handlers just work', () => {
  const random = seededRandom(1);
  const drawn = Map.groupBy(
    Array.from({ length: 10_000 }, () => drawBehaviour(random)),
    (behaviour) => behaviour,
  );
  expect([...drawn.keys()].toSorted()).toEqual(
    [
      'works',
      'throws',
      'asksForLater',
      'handsBack',
      'takesLong',
      'hangs',
      'ignoresSignal',
      'putsAway',
      'returnsGarbage',
    ].toSorted(),
  );
  expect(drawn.get('works')?.length).toBeGreaterThan(9_000);
});
