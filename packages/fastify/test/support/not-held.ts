/** The fields of the 503 of a guard, but for those that the server itself adds. */
export function notHeldFields(body: string): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
    'cache-control': 'no-store',
    'retry-after': '1',
    'proxy-status': 'leasehold; error=destination_unavailable; details="not-held"',
  };
}
