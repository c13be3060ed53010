import { LeaseholdError, showValue } from '../errors.ts';
import { ROLE_OPTIONS, type RoleOptions } from '../lease/lease-options.ts';
import type { Leasehold } from '../leasehold.ts';
import { guardLogger, type Logger, silentLogger } from '../logger.ts';
import { ManagedLeasehold } from '../managed-leasehold.ts';
import { MOST_PARTITIONS } from '../partition/partition-options.ts';
import { requireKnown, requireLogger, requireObject, requireThat } from '../require-option.ts';
import type { ActorProtocols, AnyActors } from './actor.ts';
import type { ActorHome, ActorHomeOptions } from './actor-home.ts';
import { HomeShard } from './home-shard.ts';
import { localLease } from './local-lease.ts';
import { ManagedActorHome, type ShardOf } from './managed-actor-home.ts';

/** Of the role, or of the partition: what proxies are given. Rows have it, so it is the same on every instance and for good. */
const NAME = 'actors';
const HOME_OPTIONS: readonly (keyof ActorHomeOptions)[] = ['shards', 'balance', 'logger', ...ROLE_OPTIONS];

/**
 * Registers the role `actors`, or with `shards` the partition `actors`: once for each Leasehold.
 *
 * @throws {LeaseholdError} LEASEHOLD_DUPLICATE_ROLE, LEASEHOLD_INVALID_DURATION, LEASEHOLD_INVALID_TIMING,
 * LEASEHOLD_INVALID_OPTION, LEASEHOLD_STOPPED; then nothing is registered.
 */
export function actorHome<Protocols extends ActorProtocols<Protocols> = AnyActors>(
  leasehold: Leasehold,
  options?: ActorHomeOptions,
): ActorHome<Protocols>;
/** Without a Leasehold every process is the home of every key, and a warning says so: for one process, in development. */
export function actorHome<Protocols extends ActorProtocols<Protocols> = AnyActors>(): ActorHome<Protocols>;
export function actorHome<Protocols extends ActorProtocols<Protocols> = AnyActors>(
  ...given: readonly [leasehold?: Leasehold, options?: ActorHomeOptions]
): ActorHome<Protocols> {
  // Not by what it is: a Leasehold that got lost on its way here would make every instance a home.
  const home = given.length === 0 ? localHome() : homeOn(given[0] as Leasehold, given[1]);
  return home as unknown as ActorHome<Protocols>;
}

function homeOn(leasehold: Leasehold, options: ActorHomeOptions = {}): ActorHome<AnyActors> {
  const isLeasehold = typeof leasehold?.role === 'function' && typeof leasehold.partition === 'function';
  requireThat(isLeasehold, 'leasehold', leasehold, 'give what createLeasehold() answered, or nothing at all for one process');
  requireObject('options', options);
  requireKnown('actorHome()', options, HOME_OPTIONS);
  const { shards, balance, logger = loggerOf(leasehold), ...roleOptions } = options;
  requireLogger(logger);
  requireFree(leasehold);
  const shardOf = shards === undefined ? oneHome(leasehold, roleOptions, balance) : manyHomes(leasehold, { ...options, shards });
  return new ManagedActorHome({ shardOf, logger: guardLogger(logger) });
}

function oneHome(leasehold: Leasehold, options: RoleOptions, balance: unknown): ShardOf {
  requireThat(balance === undefined, 'balance', balance, 'give shards too, or leave it out: one home has nothing to balance');
  const shard = new HomeShard(leasehold.role(NAME, options));
  return () => shard;
}

function manyHomes(leasehold: Leasehold, options: ActorHomeOptions & { readonly shards: number }): ShardOf {
  const { shards, balance = 'off', logger: _, ...roleOptions } = options;
  const isCount = Number.isInteger(shards) && shards >= 1 && shards <= MOST_PARTITIONS;
  requireThat(isCount, 'shards', shards, `give an integer from 1 to ${MOST_PARTITIONS}, or leave it out for one home`);
  const partition = leasehold.partition(NAME, { ...roleOptions, count: shards, balance });
  const homes = partition.partitions.map((lease) => new HomeShard(lease));
  return (actor, key) => homes[partition.resolve(actor, key).partition] as HomeShard;
}

function loggerOf(leasehold: Leasehold): Logger {
  return leasehold instanceof ManagedLeasehold ? leasehold.logger : silentLogger;
}

/** A role and a partition of one name would not collide by themselves, and be two homes for each key. */
function requireFree({ leases }: Leasehold): void {
  if (!leases.has(NAME) && !leases.has(`${NAME}:partition-0`)) return;
  const message = `role or partition "${NAME}" is registered already: call actorHome() once for each Leasehold and share what it answers; nothing else may have the name.`;
  throw new LeaseholdError('LEASEHOLD_DUPLICATE_ROLE', message, { role: NAME });
}

function localHome(): ActorHome<AnyActors> {
  warn('actorHome() was called without a Leasehold: every process that does so is the home of every key');
  const shard = new HomeShard(localLease(NAME));
  return new ManagedActorHome({ shardOf: () => shard, logger: guardLogger({ ...silentLogger, error: tellProcess }) });
}

function tellProcess(fields: object, message: string): void {
  const { err, actor, key } = fields as { readonly err?: unknown; readonly actor?: unknown; readonly key?: unknown };
  warn(`${message} (actor ${String(actor)}, key ${String(key)}): ${err instanceof Error ? String(err) : showValue(err)}`);
}

function warn(message: string): void {
  process.emitWarning(message, { type: 'LeaseholdWarning' });
}
