/** The code is the one that Node and the system use for it. */
export function timeoutError(message: string): Error {
  return Object.assign(new Error(`The holder gave ${message}.`), { code: 'ETIMEDOUT' });
}
