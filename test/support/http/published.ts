import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type { ForwardedMessage, RejectedMessage } from '../../../packages/proxy/src/index.ts';

/** What is published about requests that went to this holder: those of an earlier test may still be on their way. */
export function forwardedTo(holder: { readonly origin: string }): ForwardedMessage[] {
  return collect<ForwardedMessage>('leasehold:proxy.forwarded', ({ address }) => address === holder.origin);
}

/** What is published about requests with this method; a test that uses one of its own sees its own alone. */
export function rejectedWith(method: string): RejectedMessage[] {
  return collect<RejectedMessage>('leasehold:proxy.rejected', (message) => message.method === method);
}

function collect<T>(name: string, wanted: (message: T) => boolean): T[] {
  const messages: T[] = [];
  const listener = (message: unknown): void => {
    if (wanted(message as T)) messages.push(message as T);
  };
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return messages;
}
