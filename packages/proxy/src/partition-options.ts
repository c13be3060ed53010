import type { IncomingMessage } from 'node:http';
import { LeaseholdError, showValue } from '@leasehold/core';
import { requireKnown } from '@leasehold/core/adapter';
import { COMMON_OPTIONS, type CommonOptions, requireThat } from './options.ts';

/** What may be answered when a request is asked for its affinity key. Nothing, or `''`, is a key that is missing. */
export type AffinityKey = string | readonly string[] | null | undefined;

export interface PartitionHolderProxyOptions extends CommonOptions {
  /** The partition whose role for the key has the holder that executes what is under the prefixes. Register it before. */
  readonly partition: string;
  /**
   * Tells what of a request says where it belongs: synchronously, from its method, URL and header fields. Its body is not
   * there yet.
   *
   * *Gotcha:* under a mount path Express has cut that path off `url`; the whole is in `originalUrl`. Read a key out of a path as
   * the route does: where that decodes, `/orders/%37` is order 7, and the key has to be `7` too, or another instance executes it.
   */
  readonly affinityKey: (request: IncomingMessage) => AffinityKey;
  /** Keeps keys of different kinds apart, such as orders and customers of the same number. @default keys have no scope */
  readonly scope?: string;
}

export interface ResolvedAffinity<Request = IncomingMessage> {
  readonly partition: string;
  readonly scope: string | undefined;
  readonly affinityKey: (request: Request) => unknown;
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function resolveAffinity(options: PartitionHolderProxyOptions): ResolvedAffinity {
  const isObject = typeof options === 'object' && options !== null;
  requireThat(isObject, 'options', options, 'give an object with partition, affinityKey and prefixes');
  requireKnown('partitionHolderProxy', options, ['partition', 'affinityKey', 'scope', ...COMMON_OPTIONS]);
  const { partition, scope, affinityKey } = options;
  return requireAffinity({ partition, scope, affinityKey });
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function requireAffinity<Request>(affinity: ResolvedAffinity<Request>): ResolvedAffinity<Request> {
  const { partition, scope, affinityKey } = affinity;
  requireThat(isName(partition), 'partition', partition, 'give the name of a registered partition');
  requireThat(scope === undefined || isName(scope), 'scope', scope, 'give a word such as "Order", or leave it out');
  requireThat(typeof affinityKey === 'function', 'affinityKey', affinityKey, 'give a function of the request');
  return { partition, scope, affinityKey };
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function requirePartitions(leasehold: unknown): void {
  const has = typeof leasehold === 'object' && leasehold !== null && 'getPartition' in leasehold;
  requireThat(has, 'leasehold', leasehold, 'give one that has partitions: an object with getPartition()');
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** The mistake of an `affinityKey` that answers with something that is no key. */
export function notAKey(answer: unknown): LeaseholdError {
  const isPromise = answer instanceof Promise;
  // Its rejection is nobody's any more, and would end the process.
  if (isPromise) answer.catch(() => {});
  const what = isPromise ? 'a promise' : showValue(answer);
  const fix = 'answer with a string, without waiting for anything, or with undefined where there is none';
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', `affinityKey answered with ${what}; ${fix}.`, { option: 'affinityKey' });
}
