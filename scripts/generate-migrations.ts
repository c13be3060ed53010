/** Writes the numbered migrations into a module, so that they ship inside the code: `pnpm run generate`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../packages/core/src/postgres/migrations/', import.meta.url);
const target = new URL('../packages/core/src/postgres/migrations.generated.ts', import.meta.url);

export function generateMigrations(): string {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
  const steps = files.map((file, index) => {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (Number(number) !== index + 1) throw new Error(`${file}: migrations are numbered 0001, 0002, … without gaps`);
    const sql = readFileSync(new URL(file, folder), 'utf8');
    return `  {\n    version: ${index + 1},\n    name: '${name}',\n    sql: ${JSON.stringify(sql)},\n  },\n`;
  });
  const type = 'readonly { readonly version: number; readonly name: string; readonly sql: string }[]';
  return `// Generated from migrations/*.sql by scripts/generate-migrations.ts; a test compares them.\nexport const migrations: ${type} = [\n${steps.join('')}];\n`;
}

if (import.meta.main) writeFileSync(target, generateMigrations());
