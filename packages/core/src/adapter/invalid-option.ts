import { LeaseholdError, showValue } from '../errors.ts';

export function invalidOption(option: string, value: unknown, fix: string): LeaseholdError {
  const shown = option === 'connectionString' ? 'given' : showValue(value);
  return new LeaseholdError('LEASEHOLD_INVALID_OPTION', `${option} is ${shown}; ${fix}.`, { option });
}
