import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { constants } from 'node:os';
import { type Duration, LeaseholdError, type Logger, resolveDuration, showValue, silentLogger } from '@leasehold/core';
import { requireKnown } from '@leasehold/core/adapter';
import type { Advertise } from '@leasehold/proxy';
import { resolveAdvertise } from '@leasehold/proxy/adapter';

export interface LeaseholdLifecycleOptions {
  /**
   * Where the other instances reach this one, told to them once the server listens: the address that it listens on, a URL,
   * or a function that answers one.
   *
   * @default 'auto', or the address that the Leasehold was made with
   */
  readonly advertise?: Advertise;
  /** How long requests in flight may take after `close()`; then their connections are destroyed. @default '10s' */
  readonly closeTimeout?: Duration;
  /** Signals of the process at which it closes, such as `['SIGTERM', 'SIGINT']`. A second one ends the process at once. @default none */
  readonly signals?: readonly NodeJS.Signals[];
  /** @default nothing is logged */
  readonly logger?: Logger;
}

export interface ResolvedLifecycleOptions {
  readonly advertise: Advertise | null;
  readonly closeTimeoutMs: number;
  readonly signals: readonly NodeJS.Signals[];
  readonly logger: Logger;
}

const OPTIONS = ['advertise', 'closeTimeout', 'signals', 'logger'] as const satisfies (keyof LeaseholdLifecycleOptions)[];

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_ADDRESS */
export function resolveLifecycleOptions(options: LeaseholdLifecycleOptions): ResolvedLifecycleOptions {
  requireThat(typeof options === 'object' && options !== null, 'options', options, 'give an object, or leave it out');
  requireKnown('leaseholdLifecycle()', options, OPTIONS);
  const { advertise, closeTimeout = '10s', signals = [], logger = silentLogger } = options;
  requireThat(Array.isArray(signals), 'signals', signals, "give an array, such as ['SIGTERM', 'SIGINT']");
  for (const signal of signals) requireThat(isCatchable(signal), 'signals', signal, "name signals such as 'SIGTERM'");
  return {
    advertise: resolveAdvertise(advertise),
    closeTimeoutMs: resolveDuration('closeTimeout', closeTimeout, { min: 0 }),
    signals,
    logger,
  };
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION: the application in place of its server is the likely mistake. */
export function requireServer(server: unknown): asserts server is Server {
  const usable = server instanceof NetServer && 'closeAllConnections' in server;
  requireThat(usable, 'server', server, 'give what app.listen() or createServer(app) returned');
}

function isCatchable(signal: unknown): boolean {
  return typeof signal === 'string' && signal in constants.signals && signal !== 'SIGKILL' && signal !== 'SIGSTOP';
}

function requireThat(condition: boolean, option: string, value: unknown, fix: string): asserts condition {
  if (condition) return;
  throw new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${showValue(value)}; ${fix}.`, { option });
}
