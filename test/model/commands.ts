import fc from 'fast-check';
import { type Fate, fates, PROMPT } from './fate.ts';
import type { WakeUpMode } from './faulty-store.ts';
import type { Instance } from './instance.ts';
import type { World } from './world.ts';

/** One thing that happens. What makes no sense at the moment does nothing, so that shrinking can leave out any other. */
export class Step implements fc.AsyncCommand<object, World> {
  readonly #name: string;
  readonly #act: (world: World) => unknown;

  constructor(name: string, act: (world: World) => unknown) {
    this.#name = name;
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, world: World): Promise<void> {
    await this.#act(world);
    await world.endStep();
  }

  toString(): string {
    return this.#name;
  }
}

const place = fc.nat({ max: 2 });
const roleIndex = fc.nat({ max: 2 });

/** A step that asks something of a process that runs. */
function ofInstance(name: string, act: (instance: Instance, world: World) => unknown): fc.Arbitrary<Step> {
  return place.map((at) => new Step(`${name}(${at})`, (world) => (world.at(at).runs ? act(world.at(at), world) : undefined)));
}

/** A step that asks something of a process that runs, about one role. */
function ofRole(name: string, act: (instance: Instance, role: string, world: World) => unknown): fc.Arbitrary<Step> {
  return fc.tuple(place, roleIndex).map(([at, index]) => {
    const run = (world: World): unknown => {
      const instance = world.at(at);
      return instance.runs ? act(instance, roleAt(world, index), world) : undefined;
    };
    return new Step(`${name}(${at}, role-${index})`, run);
  });
}

function roleAt({ roles }: World, index: number): string {
  return roles[index % roles.length] as string;
}

const advance = fc
  .oneof(
    fc.integer({ min: 0, max: 500 }),
    fc.integer({ min: 500, max: 6_000 }),
    fc.integer({ min: 6_000, max: 20_000 }),
    fc.constantFrom(1_000, 3_000, 5_000, 13_000, 15_000),
  )
  .map((ms) => new Step(`advance(${ms})`, (world) => world.advance(ms)));

const passing = fc.integer({ min: 100, max: 25_000 });

/** All machines and the store stand still together, then every timer is late. */
const stall = passing.map(
  (ms) =>
    new Step(`stall(${ms})`, async (world) => {
      world.shared.jump(ms);
      await world.advance(0);
    }),
);

/** A stall while a heartbeat is under way: its answer is worked through before the timers that should have ended its term. */
const lateReply = fc.tuple(place, fc.integer({ min: 100, max: 3_900 }), fc.integer({ min: 0, max: 6_000 }), passing).map(
  ([at, answerAfter, before, ms]) =>
    new Step(`lateReply(${at}, ${answerAfter}, ${before}, ${ms})`, async (world) => {
      world.at(at).store.fates.push({ ...PROMPT, answerAfter });
      await world.advance(before);
      world.shared.jump(ms);
      await world.advance(0);
    }),
);

const freeze = ofInstance('freeze', ({ clock }) => clock.freeze());
const suspend = ofInstance('suspend', ({ clock, setup }) => (setup.wallGoesBack ? clock.freeze() : clock.suspend()));
const thaw = fc
  .tuple(place, fc.constantFrom('timer' as const, 'network' as const))
  .map(([at, first]) => new Step(`thaw(${at}, ${first} first)`, (world) => world.at(at).clock.thaw(first, () => world.settle())));

const jumpWall = fc.tuple(place, fc.integer({ min: -40_000, max: 40_000 })).map(
  ([at, ms]) =>
    new Step(`jumpWall(${at}, ${ms})`, (world) => {
      const { clock, setup } = world.at(at);
      clock.jumpWall(setup.wallGoesBack ? ms : Math.abs(ms));
    }),
);

const faults = fc
  .tuple(place, fc.array(fates, { minLength: 1, maxLength: 3 }))
  .map(
    ([at, next]) => new Step(`faults(${at}, ${next.map(show).join(', ')})`, (world) => world.at(at).store.fates.push(...next)),
  );

const partition = fc
  .tuple(place, fates)
  .map(([at, fate]) => new Step(`partition(${at}, ${show(fate)})`, (world) => void (world.at(at).store.standing = fate)));

const healNetwork = place.map((at) => new Step(`healNetwork(${at})`, (world) => world.at(at).store.heal()));

const wakeUps = fc
  .tuple(place, fc.constantFrom<WakeUpMode>('deliver', 'drop', 'late', 'twice'))
  .map(([at, mode]) => new Step(`wakeUps(${at}, ${mode})`, (world) => void (world.at(at).store.wakeUps = mode)));

const falseWakeUp = fc
  .tuple(place, fc.boolean())
  .map(
    ([at, all]) => new Step(`falseWakeUp(${at})`, (world) => world.at(at).store.wake(all ? 'all' : [...world.roles, 'unknown'])),
  );

const stepDown = fc
  .constantFrom(0, 4_000, 'until-told' as const)
  .chain((standAside) => ofRole(`stepDown:${standAside}`, (instance, role, world) => world.stepDown(instance, role, standAside)));

const standAside = ofInstance('standAside', (instance, world) => {
  for (const role of world.roles) {
    const open = world.journal.open(instance, role);
    if (open !== undefined) open.asked = 'LEASEHOLD_TERM_STEPPED_DOWN';
  }
  void instance.leasehold.standAside({ for: '7s' });
});

const stop = ofInstance('stop', (instance, world) => {
  if (instance.stopCalled) return;
  void instance.stop();
  for (const role of world.roles)
    if (instance.lease(role).isHeld) world.violate(`${role} is held on ${instance.name} after stop()`);
});

const kill = place.map((at) => new Step(`kill(${at})`, (world) => world.at(at).clock.kill()));
const restart = place.map((at) => new Step(`restart(${at})`, (world) => world.restart(at)));
const compete = ofInstance('compete', ({ leasehold }) => leasehold.compete());
const startWork = ofRole('startWork', (instance, role) => instance.startWork(role));
const endWork = ofInstance('endWork', (instance) => instance.endWork());
const health = fc
  .boolean()
  .chain((healthy) => ofRole(healthy ? 'recover' : 'fallIll', (instance, role) => instance.setHealth(role, healthy)));

const deleteRow = roleIndex.map(
  (index) => new Step(`deleteRow(role-${index})`, (world) => world.deleteRow(roleAt(world, index))),
);

const shortenLease = fc
  .tuple(roleIndex, fc.integer({ min: 0, max: 14_000 }))
  .map(([index, ms]) => new Step(`shortenLease(role-${index}, ${ms})`, (world) => world.shortenLease(roleAt(world, index), ms)));

/** Of any term ever seen, counted from the latest. */
const openFence = fc.nat({ max: 5 }).map(
  (back) =>
    new Step(`openFence(${back} back)`, async (world) => {
      const announced = world.journal.terms.at(-1 - back);
      if (announced?.by.runs === true) await world.openFence(announced);
    }),
);
const endFence = fc.nat({ max: 3 }).map((index) => new Step(`endFence(${index})`, (world) => world.endFence(index)));

function show({ effects, answerAfter, answer, reports }: Fate): string {
  const effect = effects.length === 0 ? 'lost' : `effect at ${effects.join('+')}`;
  return `${effect}, ${answerAfter === null ? 'no answer' : `${answer} after ${answerAfter}, ${reports}`}`;
}

export const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: advance },
  { weight: 2, arbitrary: stall },
  { weight: 2, arbitrary: lateReply },
  { weight: 3, arbitrary: freeze },
  { weight: 2, arbitrary: suspend },
  { weight: 5, arbitrary: thaw },
  { weight: 2, arbitrary: jumpWall },
  { weight: 8, arbitrary: faults },
  { weight: 2, arbitrary: partition },
  { weight: 2, arbitrary: healNetwork },
  { weight: 2, arbitrary: wakeUps },
  { weight: 1, arbitrary: falseWakeUp },
  { weight: 3, arbitrary: stepDown },
  { weight: 1, arbitrary: standAside },
  { weight: 1, arbitrary: stop },
  { weight: 1, arbitrary: kill },
  { weight: 2, arbitrary: restart },
  { weight: 1, arbitrary: compete },
  { weight: 2, arbitrary: startWork },
  { weight: 2, arbitrary: endWork },
  { weight: 1, arbitrary: health },
  { weight: 1, arbitrary: deleteRow },
  { weight: 1, arbitrary: shortenLease },
  { weight: 3, arbitrary: openFence },
  { weight: 3, arbitrary: endFence },
);
