import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/**
 * Runs a script in a process of its own, whose clock goes on while this one's event loop is blocked. Resolves with the
 * first message that it sends.
 */
export function otherProcess<T>(script: string): Promise<T> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('error', reject);
  });
}

/** A holder that answers after `delayMs` and closes connections that were idle for `idleMs`. */
export async function holderInOtherProcess({
  delayMs = 0,
  idleMs = 60_000,
}: {
  delayMs?: number;
  idleMs?: number;
}): Promise<string> {
  const port = await otherProcess<number>(`
    const server = require('node:net').createServer((socket) => {
      let idle;
      socket.on('error', () => {});
      socket.on('data', () => {
        clearTimeout(idle);
        setTimeout(() => socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nholder'), ${delayMs});
        idle = setTimeout(() => socket.destroy(), ${delayMs + idleMs});
      });
    });
    server.listen(0, '127.0.0.1', () => process.send(server.address().port));`);
  return `http://127.0.0.1:${port}`;
}

/** Blocks the event loop, as a long garbage collection or a synchronous call does. */
export function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
