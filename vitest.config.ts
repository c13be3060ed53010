import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const conditions = ['@leasehold/source'];
const source = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  // Global set-up runs in an environment of its own.
  environments: { __vitest__: { resolve: { conditions } } },
};

/** For machines that are busy with something else: conditions are waited for longer than a second. */
const patient = { setupFiles: ['test/support/patience.ts'], expect: { poll: { timeout: 10_000 } } };
/** What the tests and sources of `packages/nestjs` import comes from `test/nest11`; Nest's own packages find each other from there. */
const nest11 = {
  ...source,
  resolve: {
    ...source.resolve,
    alias: [{ find: /^@nestjs\/(\w+(?:-\w+)*)$/, replacement: join(import.meta.dirname, 'test/nest11/node_modules/@nestjs/$1') }],
  },
};

/** One project per kind of test, told apart by file name, so that each can be run alone: `pnpm test --project unit`. */
export default defineConfig({
  ...source,
  test: {
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.generated.ts', '**/index.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { branches: 95 },
    },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: [
            'packages/*/test/**/*.test.ts',
            'test/repo/**/*.test.ts',
            'test/model/**/*.test.ts',
            'test/lab/test/**/*.test.ts',
            'test/matrix/*.test.ts',
            'test/security/*.test.ts',
            'benchmarks/test/**/*.test.ts',
          ],
          provide: { nestVersion: 12 },
          exclude: ['**/*.pg.test.ts'],
          ...patient,
          testTimeout: 30_000,
        },
      },
      {
        ...source,
        test: {
          name: 'pg',
          include: ['packages/*/test/**/*.pg.test.ts', 'test/**/*.pg.test.ts'],
          globalSetup: ['test/support/postgres-global-setup.ts'],
          ...patient,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...nest11,
        test: {
          name: 'nest11',
          include: ['packages/nestjs/test/**/*.test.ts', 'test/matrix/*.test.ts', 'test/security/*.test.ts'],
          exclude: ['**/role-names.test.ts'],
          provide: { nestVersion: 11 },
          globalSetup: ['test/support/postgres-global-setup.ts'],
          ...patient,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'types',
          include: [],
          typecheck: { enabled: true, only: true, include: ['packages/*/test/**/*.test-d.ts'], tsconfig: 'tsconfig.json' },
        },
      },
      {
        ...source,
        test: {
          name: 'lab',
          include: ['examples/*/test/**/*.test.ts', 'test/{proxy,partition,work}-lab/test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { ...source, test: { name: 'docs', include: ['test/docs/*.test.ts'], exclude: ['**/*.pg.test.ts'] } },
    ],
  },
});
