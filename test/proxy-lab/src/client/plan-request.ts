import { type Random, randomInteger } from '../../../lab/src/random.ts';
import type { AnswerSpec, Shape } from '../answer-spec.ts';

/** When a client leaves: before it sends the body, in the middle of it, before the head of the answer, or in its middle. */
type Leaving = 'before-body' | 'uploading' | 'before-head' | 'mid-body';

export interface PlannedRequest {
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** Null for no body. */
  readonly upload: { readonly size: number; readonly chunked: boolean } | null;
  readonly answer: AnswerSpec;
  readonly leaves: Leaving | null;
}

const SMALL = 200;
const LARGE = 128 * 1_024;
const ONE_IN_LEAVES = 12;
const ONE_IN_BREAKS = 20;
const ONE_IN_EARLY = 20;

const WHOLE: AnswerSpec = {
  shape: 'fixed',
  size: SMALL,
  pieces: 1,
  pauseMs: 0,
  waitMs: 0,
  breakAt: null,
  breakBy: 'end',
  early: false,
};

/** One request of the mixed load: from chance alone, so that a seed names the load. */
export function planRequest(id: string, random: Random): PlannedRequest {
  const answer = planAnswer(random);
  const planned = planMethod(id, random);
  return withLeaving({ ...planned, answer: withEarly(answer, planned, random) }, random);
}

/** A small request that takes no time of its own, for a load that is to be even. */
export function planSmallRequest(id: string, random: Random): PlannedRequest {
  return { ...planMethod(id, random), answer: WHOLE, leaves: null };
}

function planMethod(id: string, random: Random): Omit<PlannedRequest, 'answer'> {
  const draw = random();
  const size = 1 + randomInteger(random, random() < 0.2 ? LARGE : 2_000);
  const chunked = random() < 0.5;
  if (draw < 0.55) return { id, method: 'GET', upload: null, leaves: null };
  if (draw < 0.62) return { id, method: 'HEAD', upload: null, leaves: null };
  if (draw < 0.9) return { id, method: 'POST', upload: { size, chunked }, leaves: null };
  return { id, method: 'DELETE', upload: { size, chunked: true }, leaves: null };
}

const SHAPES: readonly Shape[] = ['fixed', 'fixed', 'fixed', 'streamed', 'chunked', 'chunked', 'sse', 'close'];

function planAnswer(random: Random): AnswerSpec {
  const shape = SHAPES[randomInteger(random, SHAPES.length)] as Shape;
  const size = 1 + randomInteger(random, random() < 0.25 ? LARGE : SMALL * 10);
  if (shape === 'fixed') return { ...WHOLE, size };
  const pieces = 2 + randomInteger(random, 4);
  const answer = { ...WHOLE, shape, size: Math.max(size, pieces), pieces, pauseMs: randomInteger(random, 10) };
  if (randomInteger(random, ONE_IN_BREAKS) > 0) return answer;
  // Of an answer that ends with its connection, only a reset can be told from the end.
  const breakBy = shape === 'close' || random() < 0.5 ? 'reset' : 'end';
  return { ...answer, breakAt: 1 + randomInteger(random, pieces - 1), breakBy };
}

function withEarly(answer: AnswerSpec, { upload }: Pick<PlannedRequest, 'upload'>, random: Random): AnswerSpec {
  return upload !== null && randomInteger(random, ONE_IN_EARLY) === 0 ? { ...answer, early: true } : answer;
}

/** Who leaves gives the holder a reason to be slow at that stage. */
function withLeaving(planned: PlannedRequest, random: Random): PlannedRequest {
  if (randomInteger(random, ONE_IN_LEAVES) > 0) return planned;
  const { upload, answer } = planned;
  const stages: Leaving[] = ['before-head', 'mid-body', ...(upload === null ? [] : (['before-body', 'uploading'] as const))];
  const leaves = stages[randomInteger(random, stages.length)] as Leaving;
  if (leaves === 'before-head') return { ...planned, leaves, answer: { ...answer, waitMs: 20 } };
  if (leaves === 'mid-body') {
    const streamed = { ...WHOLE, shape: 'chunked', size: 5_000, pieces: 3, pauseMs: 20 } as const;
    return { ...planned, leaves, method: planned.method === 'HEAD' ? 'GET' : planned.method, answer: streamed };
  }
  return { ...planned, leaves };
}
