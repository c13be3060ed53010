import { kindOf, setField } from './field-names.ts';
import { removeNominated } from './nominated.ts';

/** A 1xx answer as it came. */
export interface InterimAnswer {
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
}

/**
 * The head of an interim (1xx) answer, as text for the wire; bytes above ASCII stand as latin-1 characters.
 *
 * @param own fields of this hop, names and values in turn, after those that are passed on.
 */
export function buildInterimHead(answer: InterimAnswer, own: readonly string[] = []): string {
  const fields = interimFields(answer);
  for (let i = 0; i < own.length; i += 2) setField(fields, own.slice(i, i + 2));
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** The fields of an interim answer that are not for one hop alone, names and values in turn. */
export function interimFields({ rawHeaders }: InterimAnswer): string[] {
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
  return fields;
}
