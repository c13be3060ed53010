import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What each package may build on: always something below it. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  proxy: ['core'],
  testing: ['core'],
  fastify: ['core', 'proxy'],
  express: ['core', 'proxy'],
  nestjs: ['core', 'proxy'],
};

/** Inside core, from the bottom up: a folder may import from those before it, and from itself. */
const CORE_LAYERS = ['store', 'lease', 'partition', 'actors', 'memory', 'postgres', 'work', 'adapter'] as const;

const packages = Object.keys(ALLOWED);

/** Of the code: examples in comments may show any package. */
function importsOf(file: string): string[] {
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
}

function sources(name: string): string[] {
  return globSync(`packages/${name}/src/**/*.ts`, { cwd: root }).map((file) => join(root, file));
}

describe('dependencies point downwards', () => {
  it('every package is in the table', () => {
    const found = globSync('packages/*/package.json', { cwd: root }).map((file) => file.split('/')[1]);
    expect(found.toSorted()).toEqual(packages.toSorted());
  });

  it.each(packages)('%s imports only packages below it', (name) => {
    const wrong = sources(name).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('@leasehold/'))
        .filter((specifier) => !ALLOWED[name]?.includes(specifier.split('/')[1] ?? ''))
        .map((specifier) => `${relative(root, file)} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
    expect(sources(name).length).toBeGreaterThan(0);
  });

  it.each(packages)('%s depends in its manifest only on packages below it', (name) => {
    const manifest = JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), 'utf8')) as Record<
      string,
      Record<string, string> | undefined
    >;
    const edges = ['dependencies', 'peerDependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((kind) => Object.keys(manifest[kind] ?? {}))
      .filter((dependency) => dependency.startsWith('@leasehold/'))
      .map((dependency) => dependency.split('/')[1] ?? '');
    expect(edges.filter((edge) => !ALLOWED[name]?.includes(edge))).toEqual([]);
  });

  it.each(packages)('no file of %s reaches outside its own src by a relative path', (name) => {
    const src = join(root, `packages/${name}/src`);
    const wrong = sources(name).flatMap((file) =>
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .filter((specifier) => relative(src, join(file, '..', specifier)).startsWith('..'))
        .map((specifier) => `${relative(root, file)} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('inside core', () => {
  it('only ./postgres needs the driver', () => {
    const users = sources('core').filter((file) => importsOf(file).includes('pg'));
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((file) => !file.includes('/src/postgres/'))).toEqual([]);
  });

  it('nothing below ./postgres imports from it, and the leases know no particular store', () => {
    const wrong = sources('core').flatMap((file) => {
      const layer = relative(join(root, 'packages/core/src'), file).split('/')[0] ?? '';
      const index = CORE_LAYERS.indexOf(layer as (typeof CORE_LAYERS)[number]);
      if (index === -1) return [];
      const above = CORE_LAYERS.slice(index + 1);
      return importsOf(file)
        .filter((specifier) => above.some((folder) => specifier.includes(`/${folder}/`)))
        .map((specifier) => `${relative(root, file)} imports ${specifier}`);
    });
    expect(wrong).toEqual([]);
  });
});
