import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { expect, test } from 'vitest';
import { hosts } from './hosts/index.ts';
import { nestVersion } from './hosts/nest-version.ts';

const folder = join(import.meta.dirname, nestVersion === 11 ? '../nest11' : '.');

test('the hosts are those that the guides are written for', () => {
  const names = hosts.map(({ name }) => name);
  if (nestVersion === 11) expect(names).toEqual(['Nest 11 on Express', 'Nest 11 on Fastify']);
  else expect(names).toEqual(['node:http', 'Express 4', 'Express 5', 'Fastify 5', 'Nest 12 on Express', 'Nest 12 on Fastify']);
});

test.each(['core', 'common', 'testing', 'platform-express', 'platform-fastify'])(
  '@nestjs/%s is of the version that is named',
  (name) => {
    const manifest = readFileSync(join(folder, 'node_modules/@nestjs', name, 'package.json'), 'utf8');
    expect((JSON.parse(manifest) as { version: string }).version.split('.')[0]).toBe(String(nestVersion));
  },
);

test('that Nest, and no other, is what the tests import', () => {
  const { NestFactory: named } = createRequire(join(folder, 'package.json'))('@nestjs/core') as { NestFactory: unknown };
  expect(NestFactory).toBe(named);
});

test.each([
  ['express4', '4'],
  ['express', '5'],
  ['fastify', '5'],
])('%s is of version %s', (name, version) => {
  const manifest = readFileSync(join(import.meta.dirname, 'node_modules', name, 'package.json'), 'utf8');
  expect((JSON.parse(manifest) as { version: string }).version.split('.')[0]).toBe(version);
});
