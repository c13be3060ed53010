import { until } from '../../../lab/src/run/wait.ts';
import type { Measured } from '../instance/config.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import type { Town } from '../processes/town.ts';

const DEADLINE_MS = 10_000;
/** The one to the database. */
const OWN_SOCKETS = 1;
const LOOKS = 3;

/** Measures an instance at rest: once its clients' connections and its own idle ones are closed, or the deadline has passed. */
export async function settle(one: InstanceProcess, { signal }: Town): Promise<Measured> {
  let measured = await one.measure();
  await until(
    async () => {
      measured = await one.measure();
      return measured.connections === 0 && measured.sockets <= OWN_SOCKETS;
    },
    { deadlineMs: DEADLINE_MS, signal },
  );
  for (let look = 0; look < LOOKS; look += 1) {
    const again = await one.measure();
    if (again.heapBytes < measured.heapBytes) measured = again;
  }
  return measured;
}
