import { isLeaseholdError, type Leasehold, LeaseholdError } from '@leasehold/core';
import type { ModulesContainer } from '@nestjs/core';
import { roleLeaseToken, rolePartitionToken } from './tokens.ts';

/** A decorator that names a role or a partition. */
export interface NamedUse {
  readonly decorator: 'WhileHeld' | 'RequireRole' | 'RequirePartition';
  readonly kind: 'role' | 'partition';
  readonly name: string;
  /** Null where it stands on the class. */
  readonly method: string | symbol | null;
}

interface UseOfClass extends NamedUse {
  readonly of: string;
}

const usesByClass = new WeakMap<object, NamedUse[]>();

/** @param target what a decorator is given: a class, or its prototype. */
export function noteUse(target: object, use: NamedUse): void {
  const ofClass = typeof target === 'function' ? target : target.constructor;
  const uses = usesByClass.get(ofClass);
  if (uses === undefined) usesByClass.set(ofClass, [use]);
  else uses.push(use);
}

/**
 * A misspelt name would be told at the first call only: of a nightly job, at night.
 *
 * @throws {LeaseholdError} LEASEHOLD_UNKNOWN_ROLE
 */
export function requireNamesKnown(modules: ModulesContainer, leasehold: Leasehold): void {
  for (const use of usesIn(modules)) {
    if (!isProvided(modules, use)) requireRegistered(leasehold, use);
  }
}

function* usesIn(modules: ModulesContainer): Iterable<UseOfClass> {
  for (const { providers, controllers } of modules.values()) {
    for (const { metatype } of [...providers.values(), ...controllers.values()]) {
      if (typeof metatype === 'function') yield* usesOf(metatype);
    }
  }
}

/** Those of the classes that it extends too, but of methods that it overrides. */
function* usesOf(metatype: object): Iterable<UseOfClass> {
  const overridden = new Set<string | symbol>();
  for (let at = metatype; typeof at === 'function' && at !== Function.prototype; at = Object.getPrototypeOf(at) as object) {
    const uses = usesByClass.get(at) ?? [];
    for (const use of uses) if (use.method === null || !overridden.has(use.method)) yield { ...use, of: at.name };
    const { prototype } = at as { readonly prototype?: object };
    for (const key of Reflect.ownKeys(prototype ?? {})) overridden.add(key);
  }
}

/** Tests put another lease in place of a role, which is not registered then. */
function isProvided(modules: ModulesContainer, { kind, name }: NamedUse): boolean {
  const token = kind === 'role' ? roleLeaseToken(name) : rolePartitionToken(name);
  return [...modules.values()].some(({ providers }) => providers.has(token));
}

function requireRegistered(leasehold: Leasehold, { kind, name, ...use }: UseOfClass): void {
  try {
    if (kind === 'role') leasehold.get(name);
    else leasehold.getPartition(name);
  } catch (cause) {
    if (!isLeaseholdError(cause, 'LEASEHOLD_UNKNOWN_ROLE')) throw cause;
    const where = use.method === null ? use.of : `${use.of}.${String(use.method)}()`;
    throw new LeaseholdError(
      'LEASEHOLD_UNKNOWN_ROLE',
      `@${use.decorator}('${name}') on ${where} names a ${kind} that is not registered; name it in ${kind}s of LeaseholdModule, or register it before onApplicationBootstrap.`,
      { role: name, cause },
    );
  }
}
