/** What the holder serves, known to all processes. All of it is under the one prefix of the proxy under test. */
export const PREFIX = '/bench';

export const PATHS = {
  small: `${PREFIX}/small`,
  large: `${PREFIX}/large`,
  upload: `${PREFIX}/upload`,
  events: `${PREFIX}/events`,
} as const;

export const SMALL_BODY = JSON.stringify({ id: 4711, state: 'running', since: '2026-01-01T00:00:00.000Z', pending: [1, 2, 3] });
export const LARGE_BODY = JSON.stringify('x'.repeat(65_536 - 2));
const UPLOAD_BODY = JSON.stringify('x'.repeat(1_024 - 2));

/** About what a client behind a load balancer sends. */
export const REQUEST_FIELDS: Readonly<Record<string, string>> = {
  Accept: 'application/json',
  'Accept-Encoding': 'gzip, deflate, br',
  'User-Agent': 'leasehold-bench/1.0',
  Authorization: 'Bearer 0123456789abcdef0123456789abcdef0123456789abcdef',
  'X-Request-Id': '0b8f6c1e-8c1d-4a57-9a59-0d6b3f6c2a11',
};

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly answer: string;
  /** In one slot: some hundredths of a second of a proxy's CPU time. */
  readonly requests: number;
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'smallGet', title: 'small GET', method: 'GET', path: PATHS.small, answer: SMALL_BODY, requests: 1_000 },
  { name: 'largeGet', title: 'GET of 64 KiB', method: 'GET', path: PATHS.large, answer: LARGE_BODY, requests: 500 },
  {
    name: 'post',
    title: 'POST of 1 KiB',
    method: 'POST',
    path: PATHS.upload,
    body: UPLOAD_BODY,
    answer: `{"received":${UPLOAD_BODY.length}}`,
    requests: 1_000,
  },
];
