import { expect, test } from 'vitest';
import { resolveAddress } from '../src/address.ts';
import { LeaseholdError } from '../src/errors.ts';

test.each([
  ['http://app-03.internal', 'http://app-03.internal'],
  ['http://app-03.internal/', 'http://app-03.internal'],
  ['https://app-03.internal:8443', 'https://app-03.internal:8443'],
  ['HTTPS://App-03.Internal:443/', 'https://app-03.internal'],
  ['http://10.0.0.7:80', 'http://10.0.0.7'],
  ['http://[2001:DB8::7]:3000', 'http://[2001:db8::7]:3000'],
  ['http://localhost:3000', 'http://localhost:3000'],
])('%s is the origin %s', (given, origin) => {
  expect(resolveAddress('instance.address', given)).toBe(origin);
});

test.each([
  ['', 'is not a URL'],
  ['app-03.internal:8443', 'is not http or https'],
  ['//app-03.internal', 'is not a URL'],
  ['ftp://app-03.internal', 'is not http or https'],
  ['javascript:alert(1)', 'is not http or https'],
  ['http:app-03.internal', 'is not of the form scheme://host'],
  ['http:///app-03.internal', 'is not of the form scheme://host'],
  ['http://app-03.internal/base', 'has a path'],
  ['http://app-03.internal//', 'has a path'],
  ['http://app-03.internal?', 'has a query'],
  ['http://app-03.internal?x=1', 'has a query'],
  ['http://app-03.internal#', 'has a query, a fragment'],
  ['http:\\\\app-03.internal', 'a backslash'],
  [' http://app-03.internal', 'white space'],
  ['http://app-03\n.internal', 'white space'],
  ['http://app-03.internal:0', 'has port 0'],
  ['http://app-03.internal:65536', 'is not a URL'],
  ['http://0.0.0.0:3000', 'an address to listen on'],
  ['http://[::]:3000', 'an address to listen on'],
  ['http://[fe80::1%25eth0]:3000', 'is not a URL'],
  ['http://', 'is not a URL'],
])('%j is refused: %s', (given, problem) => {
  expect(() => resolveAddress('instance.address', given)).toThrow(problem);
});

test.each([[undefined], [null], [3000], [{}], [new URL('http://app-03.internal')]])('%s is refused: not a string', (given) => {
  expect(() => resolveAddress('instance.address', given)).toThrow('is not a URL');
});

test('the error names the option, the value and the fix, and has a code', () => {
  let error: unknown;
  try {
    resolveAddress('instance.address', 'http://app-03.internal/base');
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(LeaseholdError);
  expect(error).toMatchObject({ code: 'LEASEHOLD_INVALID_ADDRESS', option: 'instance.address' });
  expect(String(error)).toContain('instance.address is "http://app-03.internal/base"');
  expect(String(error)).toContain("give an origin such as 'https://app-03.internal:8443'");
});

test.each([
  'http://user:secret@app-03.internal',
  'http://user@app-03.internal',
  'http://@app-03.internal',
  'http://u:secret@[bad',
])('%s is refused without showing a password', (given) => {
  let message = '';
  try {
    resolveAddress('instance.address', given);
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain('LeaseholdError');
  expect(message).not.toContain('secret');
});
