import { HOP_FIELD } from './field-names.ts';

/**
 * `Connection` may not take these away: a request without its framing is another request, or two; without the marker it
 * could be forwarded again. The last three name no field.
 */
const PROTECTED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  HOP_FIELD,
  'keep-alive',
  'close',
  '',
]);

/**
 * Removes the fields that `Connection` names as meant for this hop alone. Called before the proxy adds its own fields,
 * so that a client cannot name those.
 */
export function removeNominated(fields: string[], connection: string): void {
  const names = nominatedBy(connection);
  if (names.size === 0) return;
  let kept = 0;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string;
    if (names.has(name.toLowerCase())) continue;
    fields[kept++] = name;
    fields[kept++] = fields[i + 1] as string;
  }
  fields.length = kept;
}

/** Lower-case names. */
export function nominatedBy(connection: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const option of connection.split(',')) {
    const name = option.trim().toLowerCase();
    if (!PROTECTED.has(name)) names.add(name);
  }
  return names;
}

/** The values that nearly every message has; they name no field. */
export function namesNothing(connection: string): boolean {
  return connection === 'keep-alive' || connection === 'close' || connection === 'Keep-Alive';
}
