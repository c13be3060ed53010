import net from 'node:net';
import { type ExpectedAnswer, findMisframing } from '../checker/framing.ts';
import type { Entry } from '../client/send.ts';
import type { Town } from '../processes/town.ts';
import { refusals } from './refusals.ts';

const AT_A_TIME = 20;
/** A connection that is open for longer after its answer was left open. */
const DEADLINE_MS = 10_000;

export interface RefusedUpgrades {
  readonly count: number;
  /** What was wrong, one line each. */
  readonly misframed: readonly string[];
  readonly leftOpen: readonly string[];
}

/** Asks for upgrades that the holder refuses in every way there is, in turn. */
export async function refusedUpgrades(town: Town, entry: Entry, count: number): Promise<RefusedUpgrades> {
  const misframed: string[] = [];
  const leftOpen: string[] = [];
  let number = 0;
  const client = async (): Promise<void> => {
    while (number < count && !town.signal.aborted) {
      const as = number++ % refusals.length;
      const refusal = refusals[as] as (typeof refusals)[number] & ExpectedAnswer;
      const { bytes, closed } = await askForUpgrade(entry, refusal.method, as);
      if (!closed) leftOpen.push(`websocket: ${refusal.name}: the connection was left open`);
      const problem = findMisframing(bytes, refusal);
      if (problem !== null) misframed.push(`websocket: ${refusal.name}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, client));
  return { count: number, misframed, leftOpen };
}

/** All that comes until the connection is closed. */
function askForUpgrade({ port }: Entry, method: string, as: number): Promise<{ bytes: Buffer; closed: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = net.connect({ port, host: '127.0.0.1' });
    const over = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closed });
    };
    const timer = setTimeout(() => over(false), DEADLINE_MS);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => over(true));
    socket.write(
      `${method} /held/refuse?as=${as} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
  });
}
