import type { Scenario } from './answers.ts';

export interface Contestant {
  /** As in the names of figures. */
  readonly name: string;
  /** Its package; null for what is a file of this benchmark. */
  readonly package: string | null;
  /** How many times its speed the proxy has to reach; null where the comparison alone is of interest. */
  readonly atLeast: number | null;
}

/** What everybody else is compared with. */
export const OURS = 'leasehold';
/** The same once more, in a process of its own: what the ratio is then off 1 is the noise of the run. */
export const OURS_AGAIN = 'leaseholdAgain';

export const PEERS: readonly Contestant[] = [
  { name: OURS_AGAIN, package: null, atLeast: null },
  { name: 'httpxy', package: 'httpxy', atLeast: 1.2 },
  { name: 'httpProxy3', package: 'http-proxy-3', atLeast: 2.5 },
  { name: 'httpProxy3Agent', package: 'http-proxy-3', atLeast: 1.3 },
  { name: 'fastifyHttpProxy', package: '@fastify/http-proxy', atLeast: 1.3 },
  { name: 'httpProxyMiddleware', package: 'http-proxy-middleware', atLeast: null },
  { name: 'bareRelay', package: null, atLeast: 0.9 },
];

/** Uploads are compared, and have no target. */
export function targetFor({ atLeast }: Contestant, { method }: Scenario): string | null {
  return atLeast === null || method !== 'GET' ? null : `>= ${atLeast}`;
}
