import { expect, test } from 'vitest';
import { isUnderPrefix } from '../src/passes/match-prefix.ts';
import { resolvePrefixes } from '../src/prefix.ts';

const prefixes = resolvePrefixes(['/maintenance', '/api/Streams/', '/straße', '/a%20b']);

test.each([
  '/maintenance',
  '/maintenance/',
  '/maintenance/x',
  '/maintenance/x?y=1',
  '/maintenance?y=/other',
  '/maintenance#part',
  '/maintenance;v=1',
  '/api/streams',
  '/api/streams/7',
  '/a%20b/c',
])('%s is under a prefix', (target) => {
  expect(isUnderPrefix(target, prefixes)).toBe(true);
});

test.each([
  '/',
  '',
  '*',
  '/maintenance2',
  '/maintenance-log',
  '/maintenanc',
  '/x/maintenance',
  '/x?next=/maintenance',
  '/x?next=/../maintenance',
  '/x#/maintenance',
  '/api',
  '/api/stream',
  '/maintenance%2Fx',
  '/maintenance%3Fx',
  '/a/b',
  'maintenance',
  'example.com:443',
  'http://maintenance/x',
  'http://example.com',
  'http://example.com?x=/maintenance',
])('%s is not', (target) => {
  expect(isUnderPrefix(target, prefixes)).toBe(false);
});

test.each([
  ['another case, which Express ignores', '/MAINTENANCE/x'],
  ['percent-encoded letters, which find-my-way decodes', '/%6daintenance/x'],
  ['percent-encoded letters in the middle', '/m%61inten%61nce'],
  ['an encoded capital', '/%4Daintenance'],
  ['empty segments', '//maintenance/x'],
  ['empty segments further down', '/api//streams'],
  ['a dot segment', '/./maintenance/x'],
  ['a parent segment, which new URL() folds', '/x/../maintenance/y'],
  ['an encoded parent segment', '/x/%2e%2E/maintenance'],
  ['parent segments above the root', '/../../maintenance'],
  ['a backslash, which new URL() turns', '/x\\..\\maintenance'],
  ['an encoded space in another spelling', '/a%20b'],
  ['UTF-8, encoded', '/stra%C3%9Fe/1'],
  ['UTF-8, encoded in lower case', '/stra%c3%9fe/1'],
  ['UTF-8 bytes as they are', Buffer.from('/straße/1').toString('latin1')],
  ['absolute form', 'http://example.com/maintenance/x'],
  ['absolute form with another case', 'HTTP://example.com/Maintenance'],
  ['absolute form with a backslash', 'http://example.com\\maintenance'],
])('%s does not lead past the holder: %s', (_, target) => {
  expect(isUnderPrefix(target, prefixes)).toBe(true);
});

test("'/' covers every path", () => {
  const all = resolvePrefixes(['/']);
  expect(['/', '/x', '/?y', 'http://example.com'].map((target) => isUnderPrefix(target, all))).toEqual([true, true, true, true]);
  expect(isUnderPrefix('*', all)).toBe(false);
});

test.each([
  [undefined, 'prefixes is undefined'],
  ['/maintenance', 'prefixes is "/maintenance"; give an array'],
  [[], 'prefixes is an array of 0; give an array of one path or more'],
  [[''], 'prefixes[0] is ""; give a path that begins'],
  [['/ok', 'maintenance'], 'prefixes[1] is "maintenance"'],
  [[7], 'prefixes[0] is 7'],
  [['/maintenance/*'], "'/a' covers all of '/a/…' already"],
  [['/devices/:id'], 'without query, white space or pattern'],
  [['/maintenance?x'], 'without query'],
  [['/maintenance#x'], 'without query'],
  [['/main tenance'], 'white space'],
  [['/main\ntenance'], 'white space'],
  [['/main;tenance'], 'without query'],
  [['\\maintenance'], 'begins with'],
  [['/a\\b'], 'without query'],
  [['/a//b'], 'leave out empty'],
  [['//'], 'leave out empty'],
  [['/a/../b'], "'.' and '..' segments"],
  [['/a/.'], "'.' and '..' segments"],
  [['/50%'], "write '%' as '%25'"],
  [['/\ud800'], 'surrogate'],
])('prefixes %j are refused', (value, message) => {
  expect(() => resolvePrefixes(value)).toThrow(
    expect.objectContaining({ code: 'LEASEHOLD_INVALID_PREFIX', message: expect.stringContaining(message) }),
  );
});

test('a percent sign and a trailing slash are fine in a prefix', () => {
  const given = resolvePrefixes(['/50%25/', '/50%25']);
  expect(given).toHaveLength(1);
  expect(isUnderPrefix('/50%25/x', given)).toBe(true);
  expect(isUnderPrefix('/50%', given)).toBe(false);
});
