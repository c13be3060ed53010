/**
 * The application on the holder, three times in one process: without middleware, with the proxy before it, and without
 * once more. In processes of their own they would differ by more than what is looked for, by the luck of their compilers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createLeasehold } from '@leasehold/core';
import { memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy } from '@leasehold/proxy';
import { PREFIX, SMALL_BODY } from '../answers.ts';
import { answerCalls } from '../../support/processes/calls.ts';
import { listen } from './listen.ts';
import { Meter } from './meter.ts';

const body = Buffer.from(SMALL_BODY);

function application(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
}

async function withProxy(): Promise<Server> {
  const leasehold = createLeasehold({ store: memoryStore() });
  const lease = leasehold.role('bench');
  await leasehold.start();
  if (!lease.isHeld) throw new Error('the role was not taken');
  const proxy = roleHolderProxy(leasehold, { role: 'bench', prefixes: [PREFIX] });
  return createServer((request, response) => proxy(request, response, () => application(request, response)));
}

const meter = new Meter();
const servers = { bare: createServer(application), holder: await withProxy(), bareAgain: createServer(application) };
const origins: Record<string, string> = {};
for (const [name, server] of Object.entries(servers)) {
  meter.watch(server);
  origins[name] = await listen(server);
}
answerCalls({ origins: () => origins, read: () => meter.read() });
