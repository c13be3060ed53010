import { errorText, storableText } from '@leasehold/core/work';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const anyText = fc.string({ unit: fc.mapToConstant({ num: 0x1_00_00, build: (code) => String.fromCharCode(code) }) });
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

describe('storableText', () => {
  it('replaces what PostgreSQL refuses, and nothing else', () => {
    expect(storableText('a\0b\uD83Dc\uDE00')).toBe('a\u{FFFD}b\u{FFFD}c\u{FFFD}');
    expect(storableText('line\nbreak, tab\t, 😀')).toBe('line\nbreak, tab\t, 😀');
  });

  it('is storable and within its length, whatever the text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 20 }), (text, maxLength) => {
        const stored = storableText(text, { maxLength });
        expect(isStorable(stored)).toBe(true);
        expect(stored.length).toBeLessThanOrEqual(maxLength);
      }),
    );
  });

  it('cuts between characters', () => {
    expect(storableText('ab😀cd', { maxLength: 4 })).toBe('ab…');
    expect(storableText('ab😀cd', { maxLength: 5 })).toBe('ab😀…');
    expect(storableText('ab😀', { maxLength: 4 })).toBe('ab😀');
  });
});

describe('errorText', () => {
  it('has the name, the message and the code, and those of the causes', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(errorText(new TypeError('fetch failed', { cause }))).toBe(
      'TypeError: fetch failed; caused by Error: connect ECONNREFUSED',
    );
    expect(errorText(Object.assign(new Error('no'), { code: 23505 }))).toBe('Error: no (23505)');
  });

  it('tells of the errors that one without a message has collected', () => {
    const errors = ['one', 'two', 'three', 'four'].map((text) => new Error(text));
    expect(errorText(new AggregateError(errors))).toBe('AggregateError: one; two; three');
  });

  it.for([
    [null, 'null'],
    [undefined, 'undefined'],
    ['text', 'text'],
    [42, '42'],
    [10n, '10'],
    [Symbol('s'), 'Symbol(s)'],
    [{ status: 503 }, '{"status":503}'],
    [{ message: 'like an error' }, 'like an error'],
    [[], '[]'],
  ] as const)('shows %o as %s', ([thrown, text]) => {
    expect(errorText(thrown)).toBe(text);
  });

  const refuse = (): never => {
    throw new Error('no');
  };
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const cycle = new Error('round');
  cycle.cause = cycle;
  const selfish: Record<string, unknown> = {};
  selfish['self'] = selfish;

  it.for([
    new Proxy(new Error('hidden'), { get: refuse, getPrototypeOf: refuse, has: refuse, ownKeys: refuse }),
    revoked,
    Object.defineProperty(new Error('seen'), 'message', { get: refuse }),
    Object.defineProperty(new Error('seen'), 'cause', { get: refuse }),
    Object.create(null),
    { toString: refuse, toJSON: refuse },
    { errors: { length: 1e9 } },
    { errors: { length: -1 } },
    cycle,
    selfish,
    new Error('x'.repeat(1_000_000)),
    new Error('\0\uD800'),
    { message: 12, name: {}, code: Symbol('c') },
    refuse,
  ])('answers something short and storable, however hostile (%#)', (thrown) => {
    const text = errorText(thrown === revoked ? revoked() : thrown);
    expect(text).not.toBe('');
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(isStorable(text)).toBe(true);
  });

  it('follows no chain for ever', () => {
    expect(errorText(cycle).match(/round/g)).toHaveLength(5);
  });
});
