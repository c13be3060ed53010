import type { ProcessVerb } from './verb.ts';

/** Draining, giving back and closing have bounds; together they stay well below this. */
const LONGEST_STOP_MS = 10_000;

/** `SIGTERM`: the instance drains, gives its roles back and ends with exit code 0; then another takes its place. */
export const stop: ProcessVerb = {
  kind: 'stop',
  strikes: 'process',
  lasts: [200, 3_000],
  endsInstance: true,
  strike: async ({ slot, lastsMs, bench }) => {
    const { worker } = slot;
    if (worker !== null) await stopGracefully(worker, bench);
    await bench.wait(lastsMs);
    await slot.spawn();
  },
};

export async function stopGracefully(
  worker: NonNullable<Parameters<ProcessVerb['strike']>[0]['slot']['worker']>,
  { onFailure }: { readonly onFailure: (what: string) => void },
): Promise<void> {
  const overdue = setTimeout(() => {
    onFailure(`${worker.label} did not stop within ${LONGEST_STOP_MS} ms`);
    void worker.kill();
  }, LONGEST_STOP_MS);
  const { code, signal } = await worker.stop();
  clearTimeout(overdue);
  if (code !== 0) onFailure(`${worker.label} was told to stop and ended with ${signal ?? `exit code ${code}`}`);
}
