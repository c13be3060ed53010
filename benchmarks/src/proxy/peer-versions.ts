import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PEERS } from './contestants.ts';

const { resolve } = createRequire(import.meta.url);

/** By package name, as installed. */
export function peerVersions(): Record<string, string> {
  const names = PEERS.flatMap((peer) => (peer.package === null ? [] : [peer.package]));
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]));
}

/** From its manifest, wherever that is found: not every package exports it. */
function versionOf(name: string): string {
  for (const folder of resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { version: string }).version;
    } catch {}
  }
  throw new Error(`${name} is not installed`);
}
