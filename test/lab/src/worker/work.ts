import { diagnosticChannels, type RoleLease, type Term, type TermLostMessage, type TermMessage } from '@leasehold/core';
import { nowUs } from '../monotonic.ts';
import { type Random, randomBetween } from '../random.ts';
import type { WriteLine } from './log-file.ts';
import type { Observer } from './observer.ts';
import type { Writer } from './writer.ts';

const CYCLE_MS = 150;
const WRITES_PER_CYCLE = 0.1;
/** How often the loss of a term is followed by a write for it, soon or later. */
const SOON_SHARE = 0.6;
const LATER_SHARE = 0.3;
/** Soon after the loss the row may still name the term; then the successor has to wait for the end of the transaction. */
const SOON_MS = 200;
const HOLD_MS = 350;
const LATEST_MS = 2_500;

export interface WorkTools {
  readonly observer: Observer;
  readonly writer: Writer;
  readonly random: Random;
}

/** The cycles of one role: look, now and then write, and once the term is over try to write all the same. */
export function runCycles(lease: RoleLease, index: number, tools: WorkTools): void {
  const { observer, writer, random } = tools;
  let known: Term | null = null;
  lease.every(CYCLE_MS, async (term) => {
    if (known !== term) writeLate(term, tools);
    known = term;
    observer.lookAt(index, term);
    if (random() >= WRITES_PER_CYCLE) return;
    await writer.write(term);
    observer.lookAt(index, term);
  });
}

function writeLate(term: Term, { writer, random }: WorkTools): void {
  term.signal.addEventListener('abort', () => {
    const share = random();
    if (share >= SOON_SHARE + LATER_SHARE) return;
    const soon = share < SOON_SHARE;
    const delayMs = randomBetween(random, [0, soon ? SOON_MS : LATEST_MS]);
    setTimeout(() => void writer.writeLate(term, soon ? HOLD_MS : 0), delayMs).unref();
  });
}

/** Writes down each gain and each loss as the diagnostics channels announce them. */
export function recordTerms(write: WriteLine): void {
  diagnosticChannels.get('leasehold:lease.acquired')?.subscribe((message) => {
    const { role, fencingToken } = message as TermMessage;
    write({ k: 'gain', at: nowUs(), role, token: Number(fencingToken) });
  });
  diagnosticChannels.get('leasehold:lease.lost')?.subscribe((message) => {
    const { role, fencingToken, reason } = message as TermLostMessage;
    write({ k: 'loss', at: nowUs(), role, token: Number(fencingToken), reason });
  });
}
