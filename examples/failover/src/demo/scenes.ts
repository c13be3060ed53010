import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../../../../test/support/figures.ts';
import type { HeardTerm } from './cluster.ts';
import type { CopyProcess } from './copy-process.ts';
import { readBegin, readExpiry, readHistory } from './history.ts';
import {
  beforeFault,
  checkStreamGoesOn,
  LEASE_MS,
  PATIENCE_MS,
  RELEASE_MS,
  requireHolder,
  type Stage,
  TAKEOVER_MS,
} from './stage.ts';
import { ask } from './traffic.ts';

/** Three copies, one holder: each copy takes every request, and the holder answers. */
export async function agree(stage: Stage): Promise<void> {
  const { cluster, checks, signal } = stage;
  const holder = await requireHolder(stage);
  const [term, ...more] = cluster.terms as [HeardTerm, ...HeardTerm[]];
  checks.check(
    term.copy === holder && more.length === 0,
    `three copies agree: ${holder.label} holds "maintenance", fencing token ${term.token}`,
  );
  const answers = await Promise.all(cluster.copies.map((copy) => ask(copy, signal)));
  const allByHolder = answers.every(({ by }) => by === holder.label);
  checks.check(allByHolder, `a request to each of the three copies was answered by ${holder.label}`);
  await checkStreamGoesOn(stage, term);
}

/** A deploy: the holder is asked to end, gives the role back, and another copy has it at once. */
export async function stopGracefully(stage: Stage): Promise<void> {
  const { cluster, checks, output } = stage;
  const holder = await requireHolder(stage);
  await beforeFault(stage, `${holder.label} is stopped, as in a deploy`);
  output.step(`SIGTERM to ${holder.label}: it gives the role back`);
  const { next, ms } = await takeoverAfter(stage, holder, () => holder.stop());
  const measured = figure('takeoverAfterStop', ms, 'ms', `<= ${RELEASE_MS}`);
  checks.measure(measured, `stopped ${holder.label}: ${next.copy.label} took over after ${ms} ms (at most ${RELEASE_MS} ms)`);
  checkToken(stage, next);
  await cluster.until(() => holder.phase === 'gone', `the end of ${holder.label}`, PATIENCE_MS);
  checks.check(holder.ending === 'code 0', `${holder.label} ended by itself, with ${holder.ending}`);
  await checkStreamGoesOn(stage, next);
}

/** A crash: nobody gives anything back, and the lease runs out. */
export async function killHolder(stage: Stage): Promise<void> {
  const { checks, output } = stage;
  const holder = await requireHolder(stage);
  await beforeFault(stage, `${holder.label} is killed`);
  output.step(`kill -9 of ${holder.label}: its lease has to run out`);
  const killedAt = performance.now();
  const { next, ms, beforeExpiryMs } = await takeoverAfter(stage, holder, () => holder.kill());
  const measured = figure('takeoverAfterKill', ms, 'ms', `<= ${TAKEOVER_MS}`);
  checks.measure(measured, `killed ${holder.label}: ${next.copy.label} took over after ${ms} ms (at most ${TAKEOVER_MS} ms)`);
  const early = figure('takenBeforeExpiryAfterKill', beforeExpiryMs, 'ms', '= 0');
  checks.measure(early, `and not before the lease of ${holder.label} had run out`);
  checkToken(stage, next);
  checkGap(stage, { from: killedAt, holder, next });
  await checkStreamGoesOn(stage, next);
}

/** Between two holders nobody answers: neither the dead one nor one that does not hold. */
function checkGap({ checks, traffic }: Stage, gap: { from: number; holder: CopyProcess; next: HeardTerm }): void {
  const asked = traffic.answers.filter(({ asked: label, askedAt }) => askedAt > gap.from && label !== gap.holder.label);
  const meanwhile = asked.filter(({ answeredAt, token }) => answeredAt < gap.next.at && token !== gap.next.token);
  const refused = meanwhile.filter(({ status, retryAfter }) => status === 503 && (retryAfter ?? 0) >= 1);
  checks.check(
    refused.length > 0 && refused.length === meanwhile.length,
    `meanwhile all ${meanwhile.length} requests were refused with 503 and Retry-After`,
  );
}

/** A holder that stands still and comes back: it neither believes that it holds, nor can it write. */
export async function freezeHolder(stage: Stage): Promise<void> {
  const { cluster, checks, output, pauseMs, signal } = stage;
  const holder = await requireHolder(stage);
  holder.tell('take-term');
  await cluster.until(() => holder.hasTakenTerm, `${holder.label} beginning its work`, PATIENCE_MS);
  await beforeFault(stage, `${holder.label} is frozen`);
  output.step(`SIGSTOP of ${holder.label}, in the middle of work under the role`);
  const { next, ms, beforeExpiryMs } = await takeoverAfter(stage, holder, () => holder.freeze());
  const measured = figure('takeoverAfterFreeze', ms, 'ms', `<= ${TAKEOVER_MS}`);
  checks.measure(measured, `froze ${holder.label}: ${next.copy.label} took over after ${ms} ms (at most ${TAKEOVER_MS} ms)`);
  const early = figure('takenBeforeExpiryAfterFreeze', beforeExpiryMs, 'ms', '= 0');
  checks.measure(early, `and not before the lease of ${holder.label} had run out`);
  checkToken(stage, next);
  await checkStreamGoesOn(stage, next);
  await sleep(pauseMs, undefined, { signal });
  await thaw(stage, holder);
}

async function thaw({ cluster, checks, output, pauseMs, signal }: Stage, holder: CopyProcess): Promise<void> {
  output.step(`SIGCONT of ${holder.label}: its work goes on, and comes to its write`);
  const { pid } = holder;
  holder.tell('write-late');
  holder.thaw();
  const late = await cluster.until(() => holder.lateWrite ?? undefined, `the late write of ${holder.label}`, PATIENCE_MS);
  checks.check(!late.isHeld, `thawed ${holder.label}: its isHeld is false`);
  checks.check(late.isAborted, `the signal of its term is aborted`);
  checks.check(late.outcome === 'LEASEHOLD_FENCED', `its write under the old term was refused: ${late.outcome}`);
  const now = await cluster.startAll();
  checks.check(now !== holder && holder.pid === pid, `${holder.label} stands by for ${now.label}, without a restart`);
  await sleep(pauseMs, undefined, { signal });
}

/** What the database recorded, and what the users saw, over the whole demo. */
export async function review({ database, traffic, checks, output }: Stage): Promise<void> {
  output.step('What PostgreSQL recorded');
  const history = await readHistory(database.pool);
  checks.count('overlappingTerms', history.overlaps, `of ${history.terms} terms no two overlap, by the clock of the database`);
  checks.count('fallingTokens', history.fallingTokens, 'every term has a higher fencing token than the one before');
  checks.check(history.runs > 0, `the job ran ${history.runs} times`);
  checks.count(
    'runsOutsideTheirTerm',
    history.runsOutsideTheirTerm,
    'every run was written within the term whose token it carries',
  );
  const tokens = traffic.answers.flatMap(({ status, token }) => (status === 200 && token !== null ? [token] : []));
  const fell = tokens.filter((token, index) => token < (tokens[index - 1] ?? 0)).length;
  checks.check(tokens.length > 0 && fell === 0, `${tokens.length} requests were answered, none by a holder that was one no more`);
}

interface Takeover {
  readonly next: HeardTerm;
  readonly ms: number;
  /** How long before the end of the old lease the new term began, by the clock of the database; 0 for afterwards. */
  readonly beforeExpiryMs: number;
}

/** Long enough for a heartbeat that was in flight at the fault, short enough for the lease not to be over. */
const SETTLED_MS = LEASE_MS / 10;

async function takeoverAfter(stage: Stage, holder: CopyProcess, fault: () => void): Promise<Takeover> {
  const { cluster, database, signal } = stage;
  const taken = cluster.takeoverFrom(holder, PATIENCE_MS);
  const beganAt = performance.now();
  fault();
  const expiry = sleep(SETTLED_MS, undefined, { signal }).then(() => readExpiry(database.pool));
  const [next, expiresAt] = await Promise.all([taken, expiry]);
  const begin = await readBegin(database.pool, next.token);
  return { next, ms: Math.round(next.at - beganAt), beforeExpiryMs: Math.max(0, Math.round(expiresAt - begin)) };
}

function checkToken({ cluster, checks }: Stage, { token }: HeardTerm): void {
  const before = cluster.terms.at(-2)?.token ?? 0;
  checks.check(token > before, `the fencing token rose from ${before} to ${token}`);
}
