import { quoteLiteral } from './quote-literal.ts';

export interface Raised {
  /** The SQLSTATE: drivers show it as `code`. */
  readonly state: string;
  readonly message: string;
  readonly hint: string;
  /** What PostgreSQL said, as an expression. */
  readonly detail?: string;
}

/** The statement of PL/pgSQL that fails in these words. */
export function raise({ state, message, hint, detail }: Raised): string {
  const told = detail === undefined ? '' : `, detail = ${detail}`;
  return `raise exception using errcode = '${state}', message = ${quoteLiteral(`leasehold: ${message}`)}, hint = ${quoteLiteral(hint)}${told};`;
}
