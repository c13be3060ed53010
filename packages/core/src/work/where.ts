import type { Sql } from './sql.ts';

/** A condition of rows, or a function that is asked for it anew at each claim. */
export type Where = Sql | (() => Sql);

export function currentWhere(where: Where | undefined): Sql | undefined {
  return typeof where === 'function' ? where() : where;
}
