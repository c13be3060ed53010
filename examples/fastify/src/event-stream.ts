import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { RoleLease, Term } from '@leasehold/core';
import type { Maintenance, Run } from './maintenance.ts';

export interface EventSources {
  readonly lease: RoleLease;
  readonly label: string;
  readonly maintenance: Maintenance;
}

/** Server-sent events: who holds, and each run as it happens. It ends with the term, and the page comes back to the next holder. */
export function eventStream({ lease, label, maintenance }: EventSources): Readable {
  const stream = new PassThrough();
  const send = (event: string, data: object): void => void stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const onRun = (run: Run): void => send('run', run);
  const fill = async (term: Term): Promise<void> => {
    stream.write('retry: 300\n\n');
    send('holder', { by: label, token: String(term.fencingToken) });
    maintenance.on('run', onRun);
    // Until the client has left or the term is over.
    await once(stream, 'close', { signal: term.signal }).catch(() => {});
    maintenance.off('run', onRun);
  };
  void lease.whileHeld(fill).then(() => stream.end());
  return stream;
}
