import type { Instance } from './instance.ts';
import { auditAnnouncements } from './invariants.ts';
import type { World } from './world.ts';

const STEP_MS = 250;
/** Clocks that run fast or slow by a twentieth, and jitter. */
const TOLERANCE = 1.06;
const ROUNDING_MS = 500;

/**
 * Nobody gives up: once the network is whole, whoever lives takes every role within a lease and an interval, counted from
 * when the last call that hangs is given up. Then all stop, and each term has ended once and every role is given back.
 */
export async function healAndStop(world: World): Promise<void> {
  await heal(world);
  await untilAllAreHeld(world);
  if (world.setup.handsOver) await handOver(world);
  await stopAll(world);
}

async function heal(world: World): Promise<void> {
  await world.endFences();
  for (const instance of world.places) {
    await instance.clock.thaw('timer', () => world.settle());
    instance.store.heal();
    instance.endWork();
    for (const role of world.roles) instance.setHealth(role, true);
  }
  for (const instance of world.instances) if (instance.clock.dead) instance.store.heal();
  if (!world.places.some((instance) => instance.competes)) world.restart(0);
  await world.settle();
  for (const instance of world.places) if (instance.competes) instance.leasehold.compete();
  await world.endStep();
}

async function untilAllAreHeld(world: World): Promise<void> {
  const waiting = new Set(world.roles);
  const boundMs =
    longestHangMs(world) +
    longest(world, (instance, role) => {
      const { leaseDurationMs, renewIntervalMs } = instance.lease(role);
      return leaseDurationMs + renewIntervalMs;
    });
  const endsAt = world.shared.monotonic() + boundMs * TOLERANCE + ROUNDING_MS;
  for (;;) {
    for (const role of waiting) if (world.places.some((instance) => instance.lease(role).isHeld)) waiting.delete(role);
    if (waiting.size === 0) return;
    if (world.shared.monotonic() > endsAt) {
      world.violate(`nobody took ${[...waiting].join(', ')} within ${boundMs} ms of healing`);
      return world.throwViolations();
    }
    await world.advance(STEP_MS);
    await world.endStep();
  }
}

/** How long until the last call that is under way is given up. */
function longestHangMs(world: World): number {
  const left = world.places.flatMap(({ evidence, clock }) =>
    evidence.pendingCalls.map(({ call, monotonic }) => monotonic + call.timeoutMs - clock.monotonic()),
  );
  return Math.max(0, ...left);
}

function longest(world: World, measure: (instance: Instance, role: string) => number): number {
  return Math.max(...world.instances.flatMap((instance) => world.roles.map((role) => measure(instance, role))));
}

/** By now every call that hung was given up, and every pause after a failure or an illness is over. */
const CALM_MS = 50_000;
/** A wake-up, its jitter, and the pause between two heartbeats; a whole interval is many times that. */
const HAND_OVER_MS = 500;

/** A role that its holder steps down from is taken by another as soon as that is woken. */
async function handOver(world: World): Promise<void> {
  await world.advance(CALM_MS);
  await world.endStep();
  for (const role of world.roles) {
    const holder = world.places.find((instance) => instance.lease(role).isHeld);
    // One that reached maxHold may be standing aside.
    const others = world.places.filter((instance) => instance !== holder && instance.competes && !instance.setup.maxHold);
    if (holder === undefined || others.length === 0) continue;
    world.stepDown(holder, role, 'until-told');
    await world.advance(HAND_OVER_MS);
    if (!world.places.some((instance) => instance !== holder && instance.lease(role).isHeld))
      world.violate(`nobody took ${role} from ${holder.name} at once`);
    await world.endStep();
  }
}

const STOP_DEADLINE_MS = 60_000;
/** Beyond the call that is in flight, which is waited for: nothing is in the way. */
const STOP_IN_PEACE_MS = 500;

async function stopAll(world: World): Promise<void> {
  const stopping = world.places.filter((instance) => !instance.clock.dead);
  // What was stopped amid the trouble may have had an acquisition under way that outlived it. That runs out.
  const inPeace = stopping.filter(({ stopCalled }) => !stopCalled);
  for (const instance of stopping) void instance.stop();
  const boundMs = longestHangMs(world) * TOLERANCE + STOP_IN_PEACE_MS;
  await world.advance(boundMs);
  for (const { name, hasStopped } of inPeace) if (!hasStopped) world.violate(`${name} did not stop within ${boundMs} ms`);
  for (let ms = 0; ms < STOP_DEADLINE_MS && stopping.some(({ hasStopped }) => !hasStopped); ms += STEP_MS) {
    await world.advance(STEP_MS);
  }
  await world.endStep();
  for (const { name, hasStopped } of stopping) if (!hasStopped) world.violate(`${name} did not stop`);
  auditAnnouncements(world.journal.terms, world.violate);
  for (const role of world.roles) {
    const left = inPeace.find(({ id }) => id === world.rows.holderOf(role));
    if (left !== undefined) world.violate(`${left.name} stopped and left ${role} behind`);
  }
  world.throwViolations();
}
