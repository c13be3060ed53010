import { describe, expect, it } from 'vitest';
import { explainError, isConnectionBroken } from '../../src/postgres/errors.ts';

const withCode = (code: string): Error => Object.assign(new Error('said'), { code });

describe('a connection is given up', () => {
  it.each(['EPIPE', 'EPERM', 'ECONNRESET', '57P01', '57P03', '25006', '08006'])('after %s', (code) => {
    expect(isConnectionBroken(withCode(code))).toBe(true);
  });

  it('after an error without a code', () => {
    expect(isConnectionBroken(new Error('Connection terminated'))).toBe(true);
  });

  it.each(['55P03', '57014', '42P01', '23514', '40001'])('not after %s, which is about the statement', (code) => {
    expect(isConnectionBroken(withCode(code))).toBe(false);
  });
});

describe('what is said of an error', () => {
  it('names every address of a host that has several', () => {
    const refused = new AggregateError([
      new Error('connect ECONNREFUSED ::1:5432'),
      new Error('connect ECONNREFUSED 127.0.0.1:5432'),
    ]);
    expect(explainError(refused, 's').message).toContain('connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432');
  });

  it('is something, whatever was thrown', () => {
    for (const thrown of [undefined, null, 'text', 7]) expect(explainError(thrown, 's').message).toContain(String(thrown));
  });
});
