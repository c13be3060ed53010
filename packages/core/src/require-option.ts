import { LeaseholdError, showValue } from './errors.ts';

/**
 * A misspelt option would be ignored in silence, and its default be taken: the memory of one process in place of a store,
 * at the worst.
 *
 * @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION
 */
export function requireKnown(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name) && Reflect.get(options, name) !== undefined);
  if (unknown === undefined) return;
  const message = `${showValue(unknown)} is no option of ${where}; there are ${known.join(', ')}.`;
  throw new LeaseholdError('LEASEHOLD_INVALID_OPTION', message, { option: unknown });
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION unless `condition` holds. */
export function requireThat(condition: boolean, option: string, value: unknown, fix: string): asserts condition {
  if (!condition) throw new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${showValue(value)}; ${fix}.`, { option });
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION unless `value` is an object, which TypeScript's types ask for. */
export function requireObject(option: string, value: object): void {
  requireThat(typeof value === 'object' && value !== null, option, value, 'give an object, or leave it out');
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function requireFunction(option: string, value: unknown): void {
  requireThat(typeof value === 'function', option, value, 'give a function');
}

/** @throws {LeaseholdError} LEASEHOLD_INVALID_OPTION */
export function requireLogger(logger: unknown): void {
  const methods = ['debug', 'info', 'warn', 'error'];
  const isLogger =
    typeof logger === 'object' &&
    logger !== null &&
    methods.every((name) => typeof (logger as Record<string, unknown>)[name] === 'function');
  requireThat(isLogger, 'logger', logger, 'give an object with debug, info, warn and error, such as a pino logger');
}
