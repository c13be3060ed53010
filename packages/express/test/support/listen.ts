import type { Server } from 'node:http';

/** A free port of this machine; the answer is the origin. */
export async function listenOn(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  return `http://127.0.0.1:${address.port}`;
}
