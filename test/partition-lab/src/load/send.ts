import http from 'node:http';
import { nowUs } from '../../../lab/src/monotonic.ts';
import type { Outcome } from '../checker/history.ts';
import { PREFIX, SERVED_BY } from '../instance/config.ts';

export interface Asked {
  readonly id: string;
  readonly key: string;
  readonly port: number;
  readonly isRetry: boolean;
}

const LONGEST_MS = 5_000;

/** Never rejects: a connection that breaks is an outcome, too. */
export function send({ id, key, port, isRetry }: Asked, agent: http.Agent): Promise<Outcome> {
  const startedAt = nowUs();
  const path = `${PREFIX}/${key}?id=${id}`;
  return new Promise((resolve) => {
    const end = (status: number | null, by: string | null): void =>
      resolve({ id, key, startedAt, endedAt: nowUs(), status, by, isRetry });
    const request = http.request({ host: '127.0.0.1', port, path, method: 'POST', agent, timeout: LONGEST_MS }, (response) => {
      const by = response.headers[SERVED_BY];
      response.resume();
      response.once('end', () => end(response.statusCode ?? null, typeof by === 'string' ? by : null));
      response.once('error', () => end(null, null));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => end(null, null));
    request.end();
  });
}
