import type { IncomingMessage } from 'node:http';

/**
 * The request target as the client sent it. Express and Connect cut the mount path off `url` and keep the whole in
 * `originalUrl`.
 */
export function requestTarget(request: IncomingMessage): string {
  const { originalUrl } = request as { originalUrl?: unknown };
  return typeof originalUrl === 'string' ? originalUrl : (request.url ?? '/');
}
