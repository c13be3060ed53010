import { AsyncLocalStorage } from 'node:async_hooks';
import { type Leasehold, LeaseholdError, type Term, type WhileHeldResult } from '@leasehold/core';
import { invalidOption, requireKnown } from '@leasehold/core/adapter';
import { Inject } from '@nestjs/common';
import { noteUse } from './named-uses.ts';
import type { KeyScope, PartitionName } from './partition-names.ts';
import type { RoleName } from './role-names.ts';
import { LEASEHOLD } from './tokens.ts';

type AnyWork = (this: Injected, ...values: unknown[]) => unknown;

/**
 * Whether it may run has to be asked, so that the method is asynchronous. What it answers has to include `undefined`, which
 * is the answer when it may not run: of the decorated type nothing else would be true.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a descriptor is invariant: it takes exactly the parameters there are
export type WhileHeldDecorator = <Values extends unknown[], Value>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<(...values: Values) => Promise<Value | undefined>>,
) => void;

/** The same, for a method whose first arguments are what its key is told by. */
export type WhileHeldOfKeyDecorator<Keyed extends unknown[]> = <Values extends [...Keyed, ...unknown[]], Value>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<(...values: Values) => Promise<Value | undefined>>,
) => void;

/** The Leasehold of the application that has made the object: a process may have more than one. */
const HOST: unique symbol = Symbol('leasehold');

interface Injected {
  readonly [HOST]?: Leasehold;
}

const terms = new AsyncLocalStorage<Term>();

/**
 * Runs the method only where the role is held, and skips the call elsewhere; a stop or step-down waits for a run that has
 * begun. With `@Cron`, `@Interval` and the like the order of the decorators does not matter.
 *
 * ```ts
 * @Cron('0 3 * * *')
 * @WhileHeld('maintenance')
 * async cleanUp(): Promise<void> {
 *   await this.database.cleanUp({ signal: currentTerm()?.signal });
 * }
 * ```
 *
 * The method keeps its `this`, its arguments, its answer and its errors. A call that is skipped answers `undefined`, so that
 * the method has to answer `Promise<void>`, or a promise of something or `undefined`. Others do not compile.
 *
 * A call rejects with what the method throws, and with LEASEHOLD_NOT_REGISTERED on an object that Nest did not make by its
 * class, such as that of a `useFactory`. `app.init` rejects with LEASEHOLD_UNKNOWN_ROLE for a role that is not registered.
 */
export function WhileHeld(role: RoleName): WhileHeldDecorator;
/**
 * Of a partition: runs the method only where the role of its key is held. The key is told by the arguments of each call.
 *
 * ```ts
 * @WhileHeld('devices', (id: string) => id)
 * async poll(id: string): Promise<void> {}
 * ```
 *
 * A call rejects with LEASEHOLD_INVALID_AFFINITY_KEY for a key that is none, too.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function WhileHeld<Keyed extends unknown[]>(
  partition: PartitionName,
  affinityKey: (...values: Keyed) => string,
  options?: KeyScope,
): WhileHeldOfKeyDecorator<Keyed>;
export function WhileHeld(
  name: string,
  affinityKey?: (...values: never[]) => string,
  options: KeyScope = {},
): WhileHeldDecorator & WhileHeldOfKeyDecorator<never[]> {
  const run = affinityKey === undefined ? underRole(name) : underKey(name, affinityKey, options);
  const kind = affinityKey === undefined ? 'role' : 'partition';
  return (target: object, method: string | symbol, descriptor: unknown) => {
    noteUse(target, { decorator: 'WhileHeld', kind, name, method });
    Inject(LEASEHOLD)(target, HOST);
    // That it keeps the parameters of the method the compiler cannot see.
    const writable = descriptor as { value: AnyWork };
    const original = writable.value;
    writable.value = likeOriginal(original, async function (this: Injected, ...values) {
      const outcome = await run(hostOf(this, { role: name, method }), values, (term) =>
        terms.run(term, () => original.apply(this, values)),
      );
      return outcome.ran ? outcome.value : undefined;
    });
  };
}

/** Runs the work of one call where it may. */
type Run = (leasehold: Leasehold, values: readonly unknown[], work: (term: Term) => unknown) => Promise<WhileHeldResult<unknown>>;

function underRole(role: string): Run {
  return (leasehold, _values, work) => leasehold.get(role).whileHeld(work);
}

function underKey(name: string, affinityKey: (...values: never[]) => string, options: KeyScope): Run {
  if (typeof affinityKey !== 'function') {
    throw invalidOption('affinityKey', affinityKey, 'give a function of the arguments of the method');
  }
  requireKnown('WhileHeld()', options, ['scope']);
  const { scope } = options;
  return (leasehold, values, work) => {
    const partition = leasehold.getPartition(name);
    const key = affinityKey(...(values as never[]));
    return scope === undefined ? partition.whileHeld(key, work) : partition.whileHeld(scope, key, work);
  };
}

/** The term that the innermost method with `@WhileHeld` runs under, in it and in all that it calls; null outside. */
export function currentTerm(): Term | null {
  return terms.getStore() ?? null;
}

/** What decorators below have noted on the function, and what others read of it, is on the one in its place too. */
function likeOriginal(original: AnyWork, wrapper: AnyWork): AnyWork {
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), wrapper);
  }
  const { name, length } = original;
  return Object.defineProperties(wrapper, {
    name: { value: name, configurable: true },
    length: { value: length, configurable: true },
  });
}

function hostOf(object: Injected, { role, method }: { role: string; method: string | symbol }): Leasehold {
  const leasehold = object[HOST];
  if (leasehold !== undefined) return leasehold;
  throw new LeaseholdError(
    'LEASEHOLD_NOT_REGISTERED',
    `@WhileHeld('${role}') on ${String(method)}() has no Leasehold: its object was not made by Nest from its class. Provide the class itself, not a value or a factory.`,
    { role },
  );
}
