/** One instance of the application under test: a process that owns keys, works for them, and writes down what it saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeasehold, diagnosticChannels, isLeaseholdError, type TermMessage } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { nowUs } from '../../lab/src/monotonic.ts';
import { seededRandom } from '../../lab/src/random.ts';
import { openLogFile } from '../../lab/src/worker/log-file.ts';
import { type InstanceConfig, KEYS, type Line, type Message, PARTITION } from './instance/config.ts';
import { HEARD_MS, startServer } from './instance/server.ts';
import { TurnTaker } from './instance/turns.ts';

const config = JSON.parse(process.argv[2] ?? '') as InstanceConfig;
const { write } = openLogFile<Line>(config.logFile);
const nothing = (): void => {};
const warn = (_: object, message: string): void => write({ k: 'warned', at: nowUs(), what: message });
const leasehold = createLeasehold({
  store: postgresStore({ connection: { connectionString: config.storeUrl, application_name: config.label } }),
  instance: { label: config.label },
  leaseDuration: config.leaseMs,
  startup: config.startup,
  logger: { debug: nothing, info: nothing, warn, error: warn },
});
const devices = leasehold.partition(PARTITION, { count: config.count, balance: 'fair' });
const turns = new TurnTaker({ url: config.appUrl, label: config.label, write, random: seededRandom(config.seed) });

// A lab that is gone must leave nobody behind.
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => void stop());

const roles = Object.fromEntries(KEYS.map((key) => [key, devices.resolve(key).role]));
write({ k: 'start', instance: leasehold.instance.id, roles });
writeDownTerms();
const server = await startServer(leasehold, devices, write);
if (config.takesTurns) turns.run(devices);
try {
  await leasehold.start();
  say({ say: 'ready', instance: leasehold.instance.id, port: server.port });
} catch (error) {
  say({ say: 'refused', instance: leasehold.instance.id, code: isLeaseholdError(error) ? error.code : String(error) });
}

function say(message: Message): void {
  if (process.connected) process.send?.(message);
}

function writeDownTerms(): void {
  for (const [k, channel] of [
    ['gain', 'leasehold:lease.acquired'],
    ['loss', 'leasehold:lease.lost'],
  ] as const) {
    diagnosticChannels.get(channel)?.subscribe((message) => {
      const { role, fencingToken } = message as TermMessage;
      write({ k, at: nowUs(), role, token: Number(fencingToken) });
    });
  }
}

/** In the order of the guide: the server listens until the others have heard that nothing is held here. */
async function stop(): Promise<void> {
  await leasehold.stop();
  await sleep(HEARD_MS);
  await server.close();
  process.exit(0);
}
