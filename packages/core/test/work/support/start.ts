import type { HandlerResult, Job, WorkOptions } from '@leasehold/core/work';
import { startWorker } from '../../../src/work/worker/work.ts';
import type { Worker } from '../../../src/work/worker/worker.ts';
import { ScriptedSource, type TestRow } from './scripted-source.ts';

export type Handler = (row: TestRow, job: Job<TestRow>) => HandlerResult | Promise<HandlerResult>;

export interface Started {
  readonly source: ScriptedSource;
  readonly worker: Worker;
}

/** A worker on a scripted table, without jitter. */
export function start(handler: Handler, options: Partial<WorkOptions<TestRow>> = {}, source = new ScriptedSource()): Started {
  const worker = startWorker<TestRow>(source, source.client, { handler, random: () => 0, ...options });
  return { source, worker };
}

export interface Held {
  readonly row: TestRow;
  readonly job: Job<TestRow>;
  readonly signal: AbortSignal;
  finish(result?: HandlerResult): void;
  fail(error: unknown): void;
}

/** A handler whose calls a test ends by hand. */
export function heldHandler(): { readonly handler: Handler; readonly held: Held[] } {
  const held: Held[] = [];
  const handler: Handler = (row, job) => {
    const { promise, resolve, reject } = Promise.withResolvers<HandlerResult>();
    held.push({ row, job, signal: job.signal, finish: resolve, fail: reject });
    return promise;
  };
  return { handler, held };
}

/** A handler that ends, by throwing, as soon as its signal aborts. */
export const heedful: Handler = (_row, { signal }) =>
  new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

/** Stops, with time going on meanwhile. */
export async function stop({ worker, source }: Started, ms = 60_000): Promise<void> {
  const stopped = worker.stop();
  await source.clock.advance(ms);
  await stopped;
}
