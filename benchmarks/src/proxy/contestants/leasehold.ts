import { createServer, type Server } from 'node:http';
import { createLeasehold } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { roleHolderProxy } from '@leasehold/proxy';
import { PREFIX } from '../answers.ts';

/** As an application has it: a Leasehold that sees another instance hold the role. The other one lives here too, and only renews. */
export async function leaseholdServer(holderOrigin: string): Promise<Server> {
  const database = new MemoryDatabase();
  const holder = createLeasehold({ store: memoryStore({ database }), instance: { address: holderOrigin } });
  const holding = holder.role('bench');
  await holder.start();
  if (!holding.isHeld) throw new Error('the holder did not take the role');
  const leasehold = createLeasehold({ store: memoryStore({ database }) });
  leasehold.role('bench');
  await leasehold.start();
  const proxy = roleHolderProxy(leasehold, { role: 'bench', prefixes: [PREFIX] });
  return createServer((request, response) => proxy(request, response, () => response.writeHead(500).end('not forwarded')));
}
