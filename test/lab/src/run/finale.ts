import type { Contest } from '../checker/history.ts';
import { nowUs } from '../monotonic.ts';
import type { Fleet } from '../processes/fleet.ts';
import type { Slot } from '../processes/slot.ts';
import { freeze } from '../verbs/freeze.ts';
import { stop, stopGracefully } from '../verbs/stop.ts';
import type { Bench, ProcessVerb } from '../verbs/verb.ts';
import type { Striker } from './striker.ts';
import { until } from './wait.ts';

const GRACE_MS = 1_000;
const SPAWN_DEADLINE_MS = 15_000;

export interface FinaleOptions {
  readonly bench: Bench;
  readonly fleet: Fleet;
  readonly striker: Striker;
  readonly signal: AbortSignal;
}

export interface FinaleResult {
  readonly contests: readonly Contest[];
  /** When the last instance was told to stop. */
  readonly watchedUntil: number;
}

/** After all is healed: everybody has to be able to win, and to hand over. */
export async function finale(options: FinaleOptions): Promise<FinaleResult> {
  await makeWell(options);
  const contests: Contest[] = [];
  for (const slot of options.fleet.slots) contests.push(await contest(slot, options));
  const watchedUntil = await stopOneByOne(options);
  return { contests, watchedUntil };
}

async function makeWell({ fleet, signal, bench }: FinaleOptions): Promise<void> {
  await Promise.all(fleet.slots.map((slot) => slot.proxy.heal()));
  await Promise.all(fleet.slots.filter((slot) => slot.worker === null).map((slot) => slot.spawn()));
  const allCompete = await until(() => fleet.slots.every(({ instance }) => instance !== null), {
    deadlineMs: SPAWN_DEADLINE_MS,
    signal,
  });
  if (!allCompete && !signal.aborted) bench.onFailure(`not every process competes ${SPAWN_DEADLINE_MS} ms after the last fault`);
}

/** Freezes everybody else: now this instance must win every role, whatever it has been through. */
async function contest(slot: Slot, options: FinaleOptions): Promise<Contest> {
  const { bench, fleet, striker } = options;
  let missed = bench.roles;
  const decided = until(
    async () => {
      const holders = await bench.admin.holders();
      missed = bench.roles.filter((role) => holders.get(role) !== slot.instance);
      return missed.length === 0;
    },
    { deadlineMs: bench.leaseMs + GRACE_MS, signal: options.signal },
  );
  // A freeze that lasts until the contest is decided.
  const lasting: Bench = { ...bench, wait: async () => void (await decided) };
  const others = fleet.slots.filter((other) => other !== slot);
  await Promise.all(others.map((other) => striker.strikeSlot(freeze, other, { bench: lasting, lastsMs: 0, draw: 0, role: '' })));
  return { instance: slot.instance ?? slot.label, missed: options.signal.aborted ? [] : missed };
}

/** Whoever holds something goes next, and what it held has to be held again before another goes. */
async function stopOneByOne(options: FinaleOptions): Promise<number> {
  const { bench, fleet, striker, signal } = options;
  let watchedUntil = nowUs();
  for (let left = fleet.slots.length; left > 0 && !signal.aborted; left -= 1) {
    const holders = await heldByTheLiving(options);
    const slot = fleet.slotOf([...holders.values()][0] ?? null) ?? fleet.slots.find(({ worker }) => worker !== null);
    if (slot === undefined) break;
    watchedUntil = nowUs();
    await striker.strikeSlot(stopForGood, slot, { bench, lastsMs: 0, draw: 0, role: '' });
  }
  return watchedUntil;
}

const stopForGood: ProcessVerb = {
  ...stop,
  strike: async ({ slot, bench }) => {
    if (slot.worker !== null) await stopGracefully(slot.worker, bench);
  },
};

async function heldByTheLiving({ bench, fleet, signal }: FinaleOptions): Promise<Map<string, string>> {
  let holders = new Map<string, string>();
  await until(
    async () => {
      holders = await bench.admin.holders();
      return bench.roles.every((role) => fleet.slotOf(holders.get(role) ?? null) !== undefined);
    },
    { deadlineMs: bench.leaseMs + GRACE_MS, signal },
  );
  return holders;
}
