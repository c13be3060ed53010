import { messageOf } from './message-of.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './findings.ts';

/** Keywords that are calls in all but form. */
const CLOCKS = /\b(current_(timestamp|date|time)|localtime(stamp)?)\b/i;
const CALLS = /("?[\w.]+"?)\s*\(/g;

/** A condition that has an index is valid and immutable: PostgreSQL would not have built it otherwise. */
export async function examineLive({ table, facts, ask }: Examination): Promise<Finding[]> {
  if (facts.claimIndex !== null) return [];
  try {
    await ask(`explain select from ${table.table.quoted} where (${table.live})`);
  } catch (error) {
    const fix = 'Mend `live` of workTable(): it may use the columns of the row, constants and immutable functions.';
    return [finding('live-invalid', `live (${table.live}) is no condition on ${table.table.quoted}: ${messageOf(error)}`, fix)];
  }
  const culprit = CLOCKS.exec(withoutTexts(table.live))?.[0] ?? (await mutableCall(table.live, ask));
  if (culprit === undefined) return [];
  const message = `live (${table.live}) calls ${culprit}, which is not immutable`;
  const fix = 'Write into a column what it stands for, or put the condition into `where` of claim().';
  return [finding('live-not-immutable', message, fix)];
}

/** By name, and only where no function of the name is immutable: what is left in doubt, ddl() says for certain. */
async function mutableCall(live: string, ask: Examination['ask']): Promise<string | undefined> {
  const names = [...withoutTexts(live).matchAll(CALLS)].map(([, name = '']) =>
    (name.split('.').at(-1) ?? '').replaceAll('"', ''),
  );
  const text = `select proname as name from pg_proc where proname = any ($1::text[]) group by 1 having bool_and(provolatile <> 'i') order by 1`;
  const [first] = await ask<{ name: string }>(text, [names]);
  return first?.name;
}

function withoutTexts(live: string): string {
  return live.replaceAll(/'(?:[^']|'')*'/g, "''");
}
