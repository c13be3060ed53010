import { channel, type Channel } from 'node:diagnostics_channel';
import type { RefusalReason } from './refusal.ts';

/** Every `diagnostics_channel` of the proxy with the type of its message. Observation alone: nothing of the proxy listens here. */
export interface ProxyDiagnosticMessages {
  /** A request went to the holder and an answer began, or the client left before it did. */
  'leasehold:proxy.forwarded': ForwardedMessage;
  /** A client was sent to the holder's address. */
  'leasehold:proxy.redirected': RedirectedMessage;
  /** A request got an answer of the proxy's own. */
  'leasehold:proxy.rejected': RejectedMessage;
}

/**
 * - `completed`: the client has all of the holder's answer, or an upgraded connection was closed in order.
 * - `client-left`: the client went away; no failure of the holder.
 * - `truncated`: the holder's answer broke off, and the client's connection was cut.
 * - `role-changed`: a stream was cut because another instance took the role.
 */
export type ForwardOutcome = 'completed' | 'client-left' | 'truncated' | 'role-changed';

export interface ForwardedMessage {
  readonly instance: string;
  readonly role: string;
  readonly holder: string;
  readonly address: string;
  readonly method: string;
  readonly outcome: ForwardOutcome;
  /** Of the holder's answer, 101 for an upgrade; null when the client left before it came. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly error?: unknown;
}

export interface RedirectedMessage {
  readonly instance: string;
  readonly role: string;
  readonly holder: string;
  readonly address: string;
  readonly method: string;
}

export interface RejectedMessage {
  readonly instance: string;
  /** The partition, where the affinity key told no role. */
  readonly role: string;
  /** As far as it was known. */
  readonly holder: string | null;
  readonly method: string;
  readonly reason: RefusalReason;
  readonly statusCode: number;
  /** What came of the attempt to forward; its `code` is `ETIMEDOUT` where a timeout of the proxy ended it. */
  readonly error?: unknown;
}

export type ProxyDiagnosticChannel = keyof ProxyDiagnosticMessages;

const names: readonly ProxyDiagnosticChannel[] = [
  'leasehold:proxy.forwarded',
  'leasehold:proxy.redirected',
  'leasehold:proxy.rejected',
];

export const proxyDiagnosticChannels: ReadonlyMap<ProxyDiagnosticChannel, Channel> = new Map(
  names.map((name) => [name, channel(name)]),
);

/** Whether anybody listens: a message that nobody reads is not built. */
export function isObserved(name: ProxyDiagnosticChannel): boolean {
  return proxyDiagnosticChannels.get(name)?.hasSubscribers === true;
}

export function publish<Name extends ProxyDiagnosticChannel>(name: Name, message: ProxyDiagnosticMessages[Name]): void {
  proxyDiagnosticChannels.get(name)?.publish(message);
}
