import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { resolve } = createRequire(import.meta.url);

/** Of an installed package, from its manifest, wherever that is found: not every package exports it. */
function versionOf(name: string): string {
  for (const folder of resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string }).version;
    } catch {}
  }
  throw new Error(`${name} is not installed`);
}

/** By package name, as installed. */
export function versionsOf(names: readonly (string | null)[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (name === null ? [] : [[name, versionOf(name)]])));
}
