/** What a field name asks for when a message is passed on. `undefined` for the great majority: copied as it is. */
export type FieldKind =
  | 'connection'
  | 'hop-by-hop'
  | 'host'
  | 'content-length'
  | 'content-disposition'
  | 'transfer-encoding'
  | 'trailer'
  | 'te'
  | 'expect'
  | 'hop'
  | 'forwarded-for'
  | 'forwarded-proto'
  | 'forwarded-host'
  | 'forwarded-other';

/** The field that marks a request as forwarded once, in lower case. */
export const HOP_FIELD = 'leasehold-hop';

/** The field by which a client asks not to be forwarded, in lower case. */
export const NO_FORWARD_FIELD = 'leasehold-no-forward';

const kinds = new Map<string, FieldKind>([
  ['connection', 'connection'],
  ['keep-alive', 'hop-by-hop'],
  ['proxy-connection', 'hop-by-hop'],
  ['proxy-authenticate', 'hop-by-hop'],
  ['proxy-authorization', 'hop-by-hop'],
  ['upgrade', 'hop-by-hop'],
  ['http2-settings', 'hop-by-hop'],
  ['te', 'te'],
  ['trailer', 'trailer'],
  ['transfer-encoding', 'transfer-encoding'],
  ['content-length', 'content-length'],
  ['content-disposition', 'content-disposition'],
  ['host', 'host'],
  ['expect', 'expect'],
  [HOP_FIELD, 'hop'],
  ['x-forwarded-for', 'forwarded-for'],
  ['x-forwarded-proto', 'forwarded-proto'],
  ['x-forwarded-host', 'forwarded-host'],
  ['x-forwarded-port', 'forwarded-other'],
  ['x-forwarded-prefix', 'forwarded-other'],
  ['x-forwarded-server', 'forwarded-other'],
  ['x-forwarded-scheme', 'forwarded-other'],
  ['x-forwarded-ssl', 'forwarded-other'],
  ['x-forwarded-by', 'forwarded-other'],
  ['forwarded', 'forwarded-other'],
]);

/** Most names have a length that no special name has: they are told apart by a number, without a lower-case copy. */
const specialLengths = new Uint8Array(64);
for (const name of kinds.keys()) specialLengths[name.length] = 1;

export function kindOf(name: string): FieldKind | undefined {
  return specialLengths[name.length] === 1 ? kinds.get(name.toLowerCase()) : undefined;
}

/** Index of the first field of this (lower-case) name in an array of names and values, from `start`; -1 when there is none. */
export function findField(fields: readonly string[], lowerCaseName: string, start = 0): number {
  const { length } = lowerCaseName;
  for (let i = start; i < fields.length; i += 2) {
    const name = fields[i] as string;
    if (name.length === length && (name === lowerCaseName || name.toLowerCase() === lowerCaseName)) return i;
  }
  return -1;
}

/** Sets one field, name and value, in place of all others of that name. */
export function setField(fields: string[], field: readonly string[]): void {
  const [name = ''] = field;
  for (let i = findField(fields, name.toLowerCase()); i !== -1; i = findField(fields, name.toLowerCase(), i)) fields.splice(i, 2);
  fields.push(...field);
}
