import { waitFor } from '../../../lab/src/run/wait.ts';
import type { Town } from '../processes/town.ts';

/** How a holder goes: told to stop, killed (-9), or frozen until another holds. */
export type StrikeKind = 'stop' | 'kill' | 'freeze';

/** How long the successor holds before the frozen one wakes up, with requests that wait for it in the kernel. */
const THAW_AFTER_MS = 1_500;

/** Strikes whoever holds, waits until another does, and makes good what was struck. */
export async function strikeHolder(town: Town, kind: StrikeKind): Promise<void> {
  const holder = await town.nextHolder();
  if (kind === 'freeze') {
    holder.freeze();
    try {
      await town.nextHolder(holder);
      await waitFor(THAW_AFTER_MS, town.signal);
    } finally {
      holder.thaw();
    }
    return;
  }
  const ended = kind === 'kill' ? holder.kill() : holder.stop();
  await town.nextHolder(holder);
  await ended;
  await town.spawn();
}
