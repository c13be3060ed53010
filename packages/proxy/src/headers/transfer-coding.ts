/** Whether a `Transfer-Encoding` value is `chunked` and nothing else: the one coding that Node takes off and puts on. */
export function isChunked(value: string): boolean {
  return value === 'chunked' || value.trim().toLowerCase() === 'chunked';
}
