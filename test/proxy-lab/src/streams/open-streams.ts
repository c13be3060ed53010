import { until } from '../../../lab/src/run/wait.ts';
import { EventStream } from '../client/event-stream.ts';
import type { Entry } from '../client/send.ts';
import type { Town } from '../processes/town.ts';

const AT_A_TIME = 50;
const DEADLINE_MS = 10_000;

/** Opens streams and waits for their heads. @throws {Error} when one does not open. */
export async function openStreams(
  town: Town,
  { name, count, entry }: { readonly name: string; readonly count: number; readonly entry: Entry },
): Promise<EventStream[]> {
  const streams: EventStream[] = [];
  while (streams.length < count && !town.signal.aborted) {
    const few = Math.min(AT_A_TIME, count - streams.length);
    const batch = Array.from({ length: few }, (_, index) => new EventStream(`${name}-${streams.length + index}`, entry));
    streams.push(...batch);
    await eventually(town, () => batch.every(({ isOpen }) => isOpen), 'a stream did not open');
  }
  return streams;
}

/** @throws {Error} when it is not so within the deadline. */
export async function eventually(town: Town, condition: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  if (!(await until(condition, { deadlineMs: DEADLINE_MS, signal: town.signal }))) throw new Error(otherwise);
}

/** Waits until an instance knows where to forward to: it hears of the first holder at its next heartbeat. */
export async function untilItForwards(town: Town, entry: Entry): Promise<void> {
  const probe = async (): Promise<boolean> => {
    const stream = new EventStream('probe', entry);
    await until(() => stream.headAt !== null || stream.ended !== null, { deadlineMs: DEADLINE_MS, signal: town.signal });
    stream.leave();
    return stream.headAt !== null;
  };
  await eventually(town, probe, 'a gateway does not forward');
}

/** Waits for a condition, and goes on without it after the deadline: what is missing then is counted. */
export async function giveTime(town: Town, condition: () => boolean): Promise<void> {
  await until(condition, { deadlineMs: DEADLINE_MS, signal: town.signal });
}
