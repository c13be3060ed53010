import fc from 'fast-check';
import { type Step, steps } from './commands.ts';
import { healAndStop } from './healing.ts';
import { TIMINGS } from './instance.ts';
import { World, type WorldSetup } from './world.ts';

const setups: fc.Arbitrary<WorldSetup> = fc.record({
  instances: fc.array(
    fc.record({
      timing: fc.constantFrom(...TIMINGS),
      rate: fc.constantFrom(1, 0.95, 1.05),
      origin: fc.nat({ max: 500_000 }),
      wallGoesBack: fc.boolean(),
      seed: fc.nat(),
      maxHold: fc.boolean(),
    }),
    { minLength: 2, maxLength: 3 },
  ),
  roles: fc.constantFrom(2, 3),
  handsOver: fc.boolean(),
  looks: fc.constantFrom('every step', 'every event', 'every step', 'every event', 'every microtask'),
});

/** Any history of several instances on one store, in which everything goes wrong that can, and then an end to the trouble. */
async function playHistory(setup: WorldSetup, history: Iterable<Step>): Promise<void> {
  using world = new World(setup);
  await fc.asyncModelRun(() => ({ model: {}, real: world }), history);
  await healAndStop(world);
}

/** @param replayPath what a failure printed beside its seed and path */
export function roleLeaseProperty(replayPath?: string): fc.IAsyncProperty<[WorldSetup, Iterable<Step>]> {
  const replay = replayPath === undefined ? {} : { replayPath };
  const histories = fc.commands([steps], { maxCommands: 100, size: 'max', ...replay });
  return fc.asyncProperty(setups, histories as fc.Arbitrary<Iterable<Step>>, playHistory);
}
