/** Text that PostgreSQL takes: without NUL and half surrogate pairs. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

export function errorText(error: unknown): string {
  return storableText(String(error));
}
