import { once } from 'node:events';
import type { RoleLease, Term } from '@leasehold/core';
import type { Response } from 'express';
import type { Maintenance, Run } from './maintenance.ts';

export interface EventSources {
  readonly lease: RoleLease;
  readonly label: string;
  readonly maintenance: Maintenance;
}

/** Server-sent events: who holds, and each run as it happens. It ends with the term, and the page comes back to the next holder. */
export async function eventStream({ lease, label, maintenance }: EventSources, response: Response): Promise<void> {
  const send = (event: string, data: object): void => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const onRun = (run: Run): void => send('run', run);
  const stream = async (term: Term): Promise<void> => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write('retry: 300\n\n');
    send('holder', { by: label, token: String(term.fencingToken) });
    maintenance.on('run', onRun);
    // Until the client has left or the term is over.
    await once(response, 'close', { signal: term.signal }).catch(() => {});
    maintenance.off('run', onRun);
    response.end();
  };
  const { ran } = await lease.whileHeld(stream);
  if (!ran) response.status(503).set('Retry-After', '1').end();
}
