/**
 * How the end of an answer can be told: `fixed` and `streamed` by a length (in one piece or in several), `chunked` and `sse`
 * by a last chunk, `close` by the end of the connection alone.
 */
export type Shape = 'fixed' | 'streamed' | 'chunked' | 'sse' | 'close';

/** What the holder is asked to answer: it travels in the query of the request. */
export interface AnswerSpec {
  readonly shape: Shape;
  readonly size: number;
  readonly pieces: number;
  /** Between two pieces, in milliseconds. */
  readonly pauseMs: number;
  /** Before the head, in milliseconds. */
  readonly waitMs: number;
  /** The piece before which the holder breaks its connection off; null for never. */
  readonly breakAt: number | null;
  readonly breakBy: 'end' | 'reset';
  /** Answers without waiting for the body of the request. */
  readonly early: boolean;
}

export const PREFIX = '/held';

/** Fields by which the holder says what a whole answer is, before its first byte. */
export const FIELD = {
  instance: 'x-lab-instance',
  length: 'x-lab-length',
  upload: 'x-lab-upload',
} as const;

export function toPath(id: string, spec: AnswerSpec): string {
  const { shape, size, pieces, pauseMs, waitMs, breakAt, breakBy, early } = spec;
  const query = `id=${id}&shape=${shape}&size=${size}&pieces=${pieces}&pause=${pauseMs}&wait=${waitMs}`;
  return `${PREFIX}/answer?${query}&break=${breakAt ?? ''}&by=${breakBy}&early=${early ? 1 : 0}`;
}

export function fromQuery(query: URLSearchParams): AnswerSpec {
  const number = (name: string): number => Number(query.get(name) ?? 0);
  const breakAt = query.get('break') ?? '';
  return {
    shape: (query.get('shape') ?? 'fixed') as Shape,
    size: number('size'),
    pieces: Math.max(number('pieces'), 1),
    pauseMs: number('pause'),
    waitMs: number('wait'),
    breakAt: breakAt === '' ? null : Number(breakAt),
    breakBy: query.get('by') === 'reset' ? 'reset' : 'end',
    early: query.get('early') === '1',
  };
}

/** How long the answer takes by its own plan, in milliseconds. */
export function plannedMs({ pieces, pauseMs, waitMs }: AnswerSpec): number {
  return waitMs + (pieces - 1) * pauseMs;
}
