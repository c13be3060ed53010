/**
 * Every error of every Leasehold package, by its stable code. The text is the one-line meaning that
 * `docs/reference/errors.md` prints; a test fails when the two differ. A code is never renamed and never reused.
 */
export const errorCodes = {
  LEASEHOLD_INVALID_OPTION: 'An option has a value that it cannot have.',
  LEASEHOLD_INVALID_DURATION: 'A duration is neither a positive number of milliseconds nor a string such as "15s".',
  LEASEHOLD_INVALID_TIMING: 'The lease duration leaves no room for a renewal and the safety margin.',
  LEASEHOLD_INVALID_ROLE: 'A role name is empty, too long, or contains control characters.',
  LEASEHOLD_INVALID_AFFINITY_KEY: 'An affinity key or its scope is not a string, is too long, or the scope is empty.',
  LEASEHOLD_PARTITION_COUNT: 'A live instance has the partition with another count.',
  LEASEHOLD_INVALID_ADDRESS: 'An advertised address is not a plain http(s) origin.',
  LEASEHOLD_DUPLICATE_ROLE: 'A role of this name is registered already.',
  LEASEHOLD_ALREADY_REGISTERED: 'The plugin or module of a framework was registered twice on one application.',
  LEASEHOLD_NOT_REGISTERED: 'The module of a framework has not given a Leasehold to this application or object.',
  LEASEHOLD_UNKNOWN_ROLE: 'No role of this name is registered.',
  LEASEHOLD_NO_STORE: 'No store was given in production.',
  LEASEHOLD_ALREADY_STARTED: 'start() was called twice.',
  LEASEHOLD_NOT_STARTED: 'The call needs start() first.',
  LEASEHOLD_STOPPED: 'This Leasehold was stopped; it cannot be used again.',
  LEASEHOLD_STORE_UNAVAILABLE: 'The store could not be reached or failed; nothing was elected.',
  LEASEHOLD_STORE_TIMEOUT: 'A call to the store was given up at its deadline; its outcome is unknown.',
  LEASEHOLD_STORE_CLOSED: 'The store is closed.',
  LEASEHOLD_SCHEMA_MISSING: 'The database has no Leasehold schema and migrations are off.',
  LEASEHOLD_SCHEMA_OUTDATED: 'The Leasehold schema is older than this library and migrations are off.',
  LEASEHOLD_SCHEMA_NEWER: 'The Leasehold schema is newer than this library.',
  LEASEHOLD_PERMISSION_DENIED: 'The database user lacks a right that Leasehold needs.',
  LEASEHOLD_FENCED: 'The term is over in the store: a write under it was refused.',
  LEASEHOLD_FENCE_NEEDS_TRANSACTION: 'A fence was asked for outside a transaction, where it would protect nothing.',
  LEASEHOLD_FENCE_UNSUPPORTED: 'The store has no fence for this kind of client.',
  LEASEHOLD_ROLLED_BACK: 'A fenced transaction was rolled back at commit because one of its statements had failed.',
  LEASEHOLD_TERM_EXPIRED: 'The term ended because no renewal succeeded before its deadline.',
  LEASEHOLD_TERM_LOST: 'The term ended because the store no longer names this instance and token as the holder.',
  LEASEHOLD_TERM_STEPPED_DOWN: 'The term ended because this instance stepped down.',
  LEASEHOLD_TERM_STOPPED: 'The term ended because this instance is stopping.',
  LEASEHOLD_NOT_HOME: 'This instance is not the home of the key: another holds its role, or nobody does.',
  LEASEHOLD_UNKNOWN_ACTOR: 'No actor of this name is registered.',
  LEASEHOLD_DUPLICATE_ACTOR: 'An actor of this name is registered already.',
  LEASEHOLD_MAILBOX_FULL: 'As many messages of one key wait as its mailbox may hold.',
  LEASEHOLD_ACTOR_DEADLOCK: 'A handler asked for an answer that has to wait for its own turn to end.',
  LEASEHOLD_WORK_TABLE: 'A work table, or a column of it, is not in the database as workTable() was told.',
  LEASEHOLD_CLAIM_REFUSED: 'The database refuses what a claim writes into the rows that are due.',
  LEASEHOLD_UNKNOWN_ROW: 'A row was named that is not one of the claim.',
  LEASEHOLD_ALREADY_SETTLED: 'The row of a claim was settled before.',
  LEASEHOLD_ROW_LOST: "The row is not this claim's any more; nothing was written.",
  LEASEHOLD_LEASE_ENDING: 'The lease of a row is about to end, and another worker may claim it.',
  LEASEHOLD_ROW_STILL_LIVE: 'A row was finished or buried and its filter is still true for it: it will be claimed again.',
  LEASEHOLD_ROW_TIMEOUT: 'A handler took longer on a row than its timeout.',
  LEASEHOLD_WORKER_STOPPED: 'The worker is stopping, and no longer waits for its handlers.',
  LEASEHOLD_INVALID_PREFIX: 'A proxy prefix is not a plain absolute path.',
  LEASEHOLD_BODY_ALREADY_READ: 'A request body was read before the proxy could forward it.',
} as const;

export type LeaseholdErrorCode = keyof typeof errorCodes;

export interface LeaseholdErrorDetails {
  /** The role that the error is about. */
  readonly role?: string;
  /** The option that has to change. */
  readonly option?: string;
  /** Id of the instance that holds the role, as last seen; null when nobody is known to. */
  readonly holder?: string | null;
  /** Origin of the holder; null when it advertises none. */
  readonly address?: string | null;
  /** The error below this one. */
  readonly cause?: unknown;
}

/** The one error class of Leasehold: tell errors apart by {@link LeaseholdError.code}, never by message. */
export class LeaseholdError extends Error {
  override readonly name = 'LeaseholdError';
  readonly code: LeaseholdErrorCode;
  declare readonly role: string | undefined;
  declare readonly option: string | undefined;
  declare readonly holder: string | null | undefined;
  declare readonly address: string | null | undefined;

  constructor(code: LeaseholdErrorCode, message: string, details: LeaseholdErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    // Only what says something: these show when an error is printed.
    if (details.role !== undefined) this.role = details.role;
    if (details.option !== undefined) this.option = details.option;
    if (details.holder !== undefined) this.holder = details.holder;
    if (details.address !== undefined) this.address = details.address;
  }
}

/** True for a {@link LeaseholdError}, of the given code where one is given; works across duplicate installations. */
export function isLeaseholdError(error: unknown, code?: LeaseholdErrorCode): error is LeaseholdError {
  if (!(error instanceof Error) || error.name !== 'LeaseholdError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

const SHOWN_VALUE_LENGTH = 80;

/** Shows a rejected value in a message: short, quoted, with control characters escaped, and without the secrets of a URL. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(withoutSecrets(value)) : describeNonString(value);
  return text.length <= SHOWN_VALUE_LENGTH ? text : `${text.slice(0, SHOWN_VALUE_LENGTH)}… (${text.length} characters)`;
}

/** A connection string given in the wrong place must not travel on into a log: its password may be anywhere in it. */
function withoutSecrets(text: string): string {
  const scheme = /^\s*[a-z][a-z\d+.-]*:\/\//i.exec(text)?.[0];
  const harmless = scheme === undefined || (/^\s*https?:/i.test(scheme) && !text.includes('@'));
  return harmless ? text : `${scheme}…`;
}

function describeNonString(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}
