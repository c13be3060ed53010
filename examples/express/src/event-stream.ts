import type { RoleLease } from '@leasehold/core';
import type { Request, Response } from 'express';
import type { Maintenance, Run } from './maintenance.ts';

export interface EventSources {
  readonly lease: RoleLease;
  readonly label: string;
  readonly maintenance: Maintenance;
}

/** Server-sent events: who holds, and each run as it happens. It ends with the term, and the page comes back to the next holder. */
export function eventStream({ lease, label, maintenance }: EventSources, request: Request, response: Response): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const send = (event: string, data: object): void => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const onRun = (run: Run): void => send('run', run);
  send('holder', { by: label });
  maintenance.on('run', onRun);
  request.on('close', () => maintenance.off('run', onRun));
  void lease.whileHeld((term) => endWith(term.signal, response)).then(() => response.end());
}

/** Resolves when the term or the stream is over. */
function endWith(signal: AbortSignal, response: Response): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    response.on('close', () => resolve());
  });
}
