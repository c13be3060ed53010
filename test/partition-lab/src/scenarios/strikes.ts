import { type Random, randomBetween, randomInteger } from '../../../lab/src/random.ts';
import { waitFor } from '../../../lab/src/run/wait.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import type { Town } from '../processes/town.ts';

export const KINDS = ['join', 'stop', 'kill', 'freeze', 'cut', 'hang'] as const;
type StrikeKind = (typeof KINDS)[number];

const MOST = 6;
const FEWEST = 2;
/** Some are over before the lease is, and some are not. */
const FAULT_MS = [300, 4_500] as const;
const LONGEST_STOP_MS = 10_000;

export interface Struck {
  readonly kind: StrikeKind;
  readonly instance: string;
  /** When it was told to stop, by the database's clock. */
  readonly stoppedAt?: number;
}

/** What may happen while so many are well: each kind as often as the others. */
export function drawStrike(well: number, random: Random): StrikeKind {
  const kinds: StrikeKind[] = [];
  if (well < MOST) kinds.push('join', 'join', 'join');
  if (well > FEWEST) kinds.push('stop', 'kill', 'freeze', 'cut', 'hang');
  return kinds[randomInteger(random, kinds.length)] as StrikeKind;
}

/** Resolves when it is over. @throws {Error} when an instance does not do what it was told. */
export async function strike(town: Town, kind: StrikeKind, random: Random): Promise<Struck> {
  if (kind === 'join') return { kind, instance: (await town.spawn()).instance };
  const { well } = town;
  const one = well[randomInteger(random, well.length)] as InstanceProcess;
  const lastsMs = randomBetween(random, FAULT_MS);
  if (kind === 'stop') {
    one.ill = true;
    const stoppedAt = await town.now();
    await stopGracefully(one);
    return { kind, instance: one.instance, stoppedAt };
  }
  if (kind === 'kill') await one.kill();
  else await fault(town, one, { kind, lastsMs });
  return { kind, instance: one.instance };
}

async function fault(
  town: Town,
  one: InstanceProcess,
  { kind, lastsMs }: { kind: 'freeze' | 'cut' | 'hang'; lastsMs: number },
): Promise<void> {
  one.ill = true;
  if (kind === 'freeze') one.freeze();
  else await one.proxy[kind]();
  await waitFor(lastsMs, town.signal);
  if (kind === 'freeze') one.thaw();
  else await one.proxy.heal();
  one.ill = false;
}

/** @throws {Error} when it takes too long, or ends badly. */
export async function stopGracefully(one: InstanceProcess): Promise<void> {
  const overdue = setTimeout(() => void one.kill(), LONGEST_STOP_MS);
  const { code, signal } = await one.stop();
  clearTimeout(overdue);
  if (code !== 0) throw new Error(`${one.config.label} was told to stop and ended with ${signal ?? code}`);
}
