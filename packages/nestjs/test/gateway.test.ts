import type { Leasehold } from '@leasehold/core';
import { InjectLeasehold } from '@leasehold/nestjs';
import type { INestApplication } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, type OnGatewayConnection, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { describe, expect, onTestFinished, test } from 'vitest';
import { leaseOf, platforms, startPair } from './support/apps.ts';

interface Client {
  send(text: string): void;
}

/** Says which copy has it. */
abstract class SayingGateway implements OnGatewayConnection {
  readonly #leasehold: Leasehold;

  constructor(@InjectLeasehold() leasehold: Leasehold) {
    this.#leasehold = leasehold;
  }

  handleConnection(client: Client): void {
    client.send(JSON.stringify({ event: 'connected', data: this.#leasehold.instance.label }));
  }

  @SubscribeMessage('ask')
  answer(@MessageBody() data: unknown): { event: string; data: unknown } {
    return { event: 'answer', data: { by: this.#leasehold.instance.label, data } };
  }
}

@WebSocketGateway({ path: '/maintenance/live' })
class LiveGateway extends SayingGateway {}

@WebSocketGateway({ path: '/local' })
class LocalGateway extends SayingGateway {}

const parts = { providers: [LiveGateway, LocalGateway] };
const before = (app: INestApplication): void => void app.useWebSocketAdapter(new WsAdapter(app));

interface Connection {
  readonly socket: WebSocket;
  readonly messages: unknown[];
  readonly closed: Promise<unknown>;
}

async function connect(app: INestApplication, path: string): Promise<Connection> {
  const socket = new WebSocket((await app.getUrl()).replace('http', 'ws') + path);
  onTestFinished(() => socket.close());
  const messages: unknown[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
  // oxlint-disable-next-line promise/avoid-new -- an event of the browser's kind
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
  await expect.poll(() => messages.length).toBe(1);
  return { socket, messages, closed };
}

describe.each(platforms)('on %s', (platform) => {
  test('a gateway under a prefix is that of the holder, whichever copy was asked', async () => {
    const { holder, other } = await startPair(platform, { parts, before });
    for (const app of [holder, other]) {
      const { socket, messages } = await connect(app, '/maintenance/live');
      socket.send(JSON.stringify({ event: 'ask', data: 7 }));
      await expect
        .poll(() => messages)
        .toEqual([
          { event: 'connected', data: 'holder' },
          { event: 'answer', data: { by: 'holder', data: 7 } },
        ]);
    }
  });

  test('another gateway is that of the copy that was asked', async () => {
    const { other } = await startPair(platform, { parts, before });
    expect((await connect(other, '/local')).messages).toEqual([{ event: 'connected', data: 'other' }]);
  });

  test('when the holder closes, a connection through another copy ends, and comes back to the next holder', async () => {
    const { holder, other } = await startPair(platform, { parts, before });
    const { closed } = await connect(other, '/maintenance/live');
    await holder.close();
    await closed;
    await expect.poll(() => leaseOf(other).isHeld).toBe(true);
    expect((await connect(other, '/maintenance/live')).messages).toEqual([{ event: 'connected', data: 'other' }]);
  });
});
