import { kindOf } from './field-names.ts';
import { removeNominated } from './nominated.ts';

/** The head of an interim (1xx) answer, as text for the wire; bytes above ASCII stand as latin-1 characters. */
export function buildInterimHead(status: number, message: string, rawHeaders: readonly string[]): string {
  const fields: string[] = [];
  let connection = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    const kind = kindOf(name);
    if (kind === 'connection') connection += `,${value}`;
    else if (kind === undefined || kind === 'content-disposition') fields.push(name, value);
  }
  removeNominated(fields, connection);
  let text = `HTTP/1.1 ${status} ${message}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return `${text}\r\n`;
}
