import { expect, test } from 'vitest';
import { isUnderPrefix } from '../src/passes/match-prefix.ts';
import { resolvePrefixes } from '../src/prefix.ts';

const prefixes = resolvePrefixes(['/maintenance', '/api/Streams/', '/straße', '/a%20b', '/été', '/kitchen']);

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
  'http://example.com?x=y',
  '//example.com/x/maintenance',
  '/maintenance%00/x',
  '/m%61intenance%2Fx',
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
  ['an encoded letter, and a way out that find-my-way does not take', '/%6daintenance/../x'],
  ['an encoded letter, and the prefix’s parent by name', '/%6daintenance/..'],
  ['an empty segment, and a way out', '//maintenance/../x'],
  ['an empty segment that a parent segment takes away', '/api//../streams'],
  ['a backslash that is no slash', '/api/x\\y/../streams'],
  ['what new URL() takes for a host', '//example.com/maintenance'],
  ['a host after many slashes', '////example.com/maintenance/x'],
  ['a host after a backslash', '/\\example.com/maintenance'],
  ['a host with a user, which url.parse() sees where there is a fragment', '//user@host/maintenance#'],
  ['absolute form with a third slash', 'http:///example.com/maintenance'],
  ['absolute form with a query that older find-my-way takes for the host', 'http://example.com?x/maintenance'],
  ['a first character that older find-my-way skips', '*maintenance/x'],
  ['a letter above ASCII in another case', '/STRA%C3%9FE/1'],
  ['a prefix above ASCII in another case', '/%C3%89T%C3%A9'],
  ['the Kelvin sign, whose lower case is a k', '/%E2%84%AAitchen'],
  ['latin-1, which HTTP/2 lets in', '/stra\u00dfe/1'],
])('%s does not lead past the holder: %s', (_, target) => {
  expect(isUnderPrefix(target, prefixes)).toBe(true);
});

test("'/' covers every target: for `OPTIONS *`, too, routers run what is there for each path", () => {
  const all = resolvePrefixes(['/']);
  const targets = ['/', '/x', '/?y', 'http://example.com', '*'];
  expect(targets.filter((target) => !isUnderPrefix(target, all))).toEqual([]);
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
  [['/a/%2e%2E/b'], "'.' and '..' segments"],
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
