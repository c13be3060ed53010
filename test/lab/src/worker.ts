/** One instance of the application under test: a process that holds roles, works under them, and writes down what it saw. */
import { createLeasehold, type Duration } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { roleName } from './log/line.ts';
import { nowUs } from './monotonic.ts';
import { seededRandom } from './random.ts';
import type { Command, Ready, WorkerConfig } from './worker/commands.ts';
import { faultyClock } from './worker/faulty-clock.ts';
import { openLogFile } from './worker/log-file.ts';
import { Observer } from './worker/observer.ts';
import { obey } from './worker/obey.ts';
import { recordTerms, runCycles } from './worker/work.ts';
import { Writer } from './worker/writer.ts';

const LOOK_EVERY_MS = 25;

const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
const { label, roles, lease, storeUrl, appUrl, seed } = config;
const random = seededRandom(seed);
const clock = faultyClock(config);
const log = openLogFile(config.logFile);
const leasehold = createLeasehold({
  store: postgresStore({ connection: { connectionString: storeUrl, application_name: label } }),
  instance: { label },
  leaseDuration: lease as Duration,
  clock,
});
const observer = new Observer(leasehold.leases, log.write);
const writer = new Writer({ url: appUrl, label, write: log.write, random });

// A lab that is gone must leave nobody behind.
process.on('disconnect', () => process.exit(0));
process.on('message', (command: Command) => void obey(command, { leasehold, clock, observer, writer }));
process.on('SIGTERM', () => void stop());

log.write({ k: 'start', at: nowUs(), instance: leasehold.instance.id });
recordTerms(log.write);
for (let index = 0; index < roles; index += 1) {
  runCycles(leasehold.role(roleName(index)), index, { observer, writer, random });
}
setInterval(() => observer.look(), LOOK_EVERY_MS);
await leasehold.start();
process.send?.({ ready: leasehold.instance.id } satisfies Ready);

async function stop(): Promise<void> {
  await leasehold.stop();
  observer.look();
  log.write({ k: 'end', at: nowUs() });
  process.exit(0);
}
