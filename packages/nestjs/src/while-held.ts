import { AsyncLocalStorage } from 'node:async_hooks';
import { type Leasehold, LeaseholdError, type Term } from '@leasehold/core';
import { Inject } from '@nestjs/common';
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
 * A call rejects with what the method throws, with LEASEHOLD_UNKNOWN_ROLE for a role that is not registered, and with
 * LEASEHOLD_NOT_REGISTERED on an object that Nest did not make by its class, such as that of a `useFactory`.
 */
export function WhileHeld(role: RoleName): WhileHeldDecorator {
  return (target, method, descriptor) => {
    Inject(LEASEHOLD)(target, HOST);
    // That it keeps the parameters of the method the compiler cannot see.
    const writable = descriptor as unknown as { value: AnyWork };
    const original = writable.value;
    writable.value = likeOriginal(original, async function (this: Injected, ...values) {
      const lease = hostOf(this, { role, method }).get(role);
      const outcome = await lease.whileHeld((term) => terms.run(term, () => original.apply(this, values)));
      return outcome.ran ? outcome.value : undefined;
    });
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
