/** One instance of the application under test: holds the role or forwards to its holder, and writes down what it executed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeasehold } from '@leasehold/core';
import { postgresStore } from '@leasehold/core/postgres';
import { roleHolderProxy } from '@leasehold/proxy';
import { openLogFile } from '../../lab/src/worker/log-file.ts';
import { PREFIX } from './answer-spec.ts';
import { application, lookAt } from './instance/application.ts';
import { type Command, type InstanceConfig, LIMITS, type Line, type Message, ROLE } from './instance/config.ts';
import { measure } from './instance/measure.ts';
import { Streams } from './instance/streams.ts';
import { upgrades } from './instance/upgrades.ts';
import { watchStalls } from './stalls.ts';

/** As long as the others may take to hear that the role was given back. */
const HEARD_MS = 250;

const config = JSON.parse(process.argv[2] ?? '') as InstanceConfig;
const log = openLogFile<Line>(config.logFile);
const leasehold = createLeasehold({
  store: postgresStore({ connection: { connectionString: config.databaseUrl, application_name: config.label } }),
  instance: { label: config.label },
  leaseDuration: config.leaseMs,
});
const lease = leasehold.role(ROLE);
const streams = new Streams(log.write);
const handler = roleHolderProxy(leasehold, {
  role: ROLE,
  prefixes: [PREFIX],
  connectTimeout: LIMITS.connect,
  headTimeout: LIMITS.head,
  idleTimeout: LIMITS.idle,
  onRoleChange: config.onRoleChange,
});
const execute = application({ instance: leasehold.instance.id, write: log.write, streams });
const server = createServer((request, response) => {
  const look = lookAt(lease);
  handler(request, response, () => execute(request, response, look));
});

// Longer than any freeze: a server that wakes up closes what has idled out meanwhile, and reads what waits there no more.
server.keepAliveTimeout = 60_000;
const accept = upgrades();
server.on('upgrade', (request, socket, head) => {
  if (!handler.proxy.handleUpgrade(request, socket, head)) accept(request, socket, head);
});

// A lab that is gone must leave nobody behind.
process.on('disconnect', () => process.exit(0));
process.on('message', (command: Command) => void obey(command));
process.on('SIGTERM', () => void stop());

log.write({ k: 'start', instance: leasehold.instance.id });
watchStalls(({ from, to }) => log.write({ k: 'stall', from, to }));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve));
const { port } = server.address() as AddressInfo;
leasehold.advertise(`http://127.0.0.1:${port}`);
if (!config.competes) void leasehold.standAside();
await leasehold.start();
say({ say: 'ready', instance: leasehold.instance.id, port });

function say(message: Message): void {
  if (process.connected) process.send?.(message);
}

async function obey(command: Command): Promise<void> {
  if (command.do === 'measure') say({ say: 'measured', measured: await measure(server) });
  else if (command.do === 'stepDown') await lease.stepDown();
  else {
    await streams.publish(command.events, command.everyMs);
    say({ say: 'published' });
  }
}

/** In the order of the guide: the server listens until the others have heard that nothing is held here. */
async function stop(): Promise<void> {
  await leasehold.stop();
  await sleep(HEARD_MS);
  handler.proxy.close();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await closed;
  process.exit(0);
}
