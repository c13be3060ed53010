import { figure } from '../../../../test/support/figures.ts';
import { tooSoon } from '../receiver/waits.ts';
import { STEPS_MS } from '../view/ladder.ts';
import { DELIVERIES, REFUSED } from './application.ts';
import { rest, type Stage, waitFor } from './stage.ts';
import type { Member } from './workers.ts';

/** Nothing coordinates them but the table. */
export async function begin(stage: Stage): Promise<void> {
  const { workers, checks, output } = stage;
  output.step(
    'Two workers start',
    'Each adds what is missing to the table `deliveries` of the application, and asks it for rows that are due.',
  );
  await Promise.all(workers.members.map((member) => workers.start(member)));
  checks.check(
    workers.members.every(({ copy }) => copy.isRunning),
    `${workers.members.map(({ label }) => label).join(' and ')} work on one table`,
  );
}

const FIRST_PART = DELIVERIES / 4;

/** While the application goes on writing deliveries. */
export async function deliver(stage: Stage): Promise<void> {
  const { ledger, receiver, checks, output } = stage;
  output.step(
    `The application writes ${DELIVERIES} deliveries`,
    'Of ten requests the receiver fails three: 503 or 429 with Retry-After in seconds or as a date, 500, a connection that breaks, an answer that comes too late.',
  );
  stage.makeEvents();
  await waitFor(stage, () => ledger.tally.done >= FIRST_PART, `${FIRST_PART} deliveries`);
  const { visits } = receiver.log;
  const failed = visits.filter(({ ok }) => !ok).length;
  const both = new Set(visits.map(({ by }) => by)).size;
  checks.check(
    failed > 0 && both === 2,
    `${ledger.tally.done} are delivered by both workers, with ${visits.length} requests of which ${failed} failed`,
  );
  await rest(stage);
}

/** As in a crash: nobody gives anything back, and requests are under way. */
export async function killOne(stage: Stage): Promise<void> {
  const { workers, ledger, checks, output } = stage;
  const member = workers.members[Math.floor(stage.random() * workers.members.length)] as Member;
  output.step(
    `${member.label} is killed (kill -9), and started again`,
    'Nobody knows what became of its requests. Its rows are leased until 5 s have run out; then they are claimed like any other.',
  );
  await workers.end(member, 'SIGKILL');
  const killedAt = performance.now();
  const held = await ledger.heldBy(member.label);
  checks.check(held.length > 0 && member.copy.ending === 'SIGKILL', `${member.label} had ${held.length} deliveries when it died`);
  await workers.start(member);
  await untilSettled(stage, held);
  const ms = Math.round(performance.now() - killedAt);
  checks.measure(figure('untilDeliveredAfterKill', ms, 'ms'), `all ${held.length} are settled after ${ms} ms, ladders and all`);
  await rest(stage);
}

async function untilSettled(stage: Stage, ids: readonly string[]): Promise<void> {
  const { ledger, signal } = stage;
  let open = ids.length;
  const looking = (async () => {
    while (open > 0 && !signal.aborted) open = await ledger.openOf(ids);
  })();
  await waitFor(stage, () => open === 0, 'deliveries of the dead worker being settled');
  await looking;
}

export async function finish(stage: Stage): Promise<void> {
  const { ledger, output } = stage;
  output.step('Until the last one', 'What has failed several times waits for the last steps of the ladder.');
  await waitFor(stage, () => ledger.tally.done + ledger.tally.dead >= DELIVERIES, `all ${DELIVERIES} deliveries being settled`);
  await rest(stage);
}

/** What the receiver saw, and what is in the table. */
export async function review(stage: Stage): Promise<void> {
  const { ledger, receiver, workers, checks, output } = stage;
  const { log } = receiver;
  output.step('What the receiver saw, and what the table says');
  const { rows, done, dead, deadAsMeant, mostAttempts } = await ledger.result();
  const wanted = DELIVERIES - REFUSED;
  const twice = [...receiver.delivered.values()].filter((times) => times > 1).length;
  checks.measure(
    figure('delivered', Math.min(done, receiver.delivered.size), '', `= ${wanted}`),
    `of ${rows} deliveries ${done} are done, and the application behind the receiver has ${receiver.delivered.size}`,
  );
  checks.count(
    'deliveredTwice',
    twice,
    `it got none twice: ${receiver.repeats} requests were for what it had, and their keys said so`,
  );
  checks.measure(
    figure('buried', dead, '', `= ${REFUSED}`),
    `buried: ${dead}, of which ${deadAsMeant} are those that the receiver refuses with 400`,
  );
  checks.check(deadAsMeant === dead, 'nothing else was given up');
  const asked = log.visits.filter(({ notBefore }) => notBefore !== null);
  const heard = asked.filter((visit) => !log.unheard.has(visit));
  checks.check(
    heard.length > asked.length / 2,
    `${asked.length} times it asked with Retry-After to come later, and was heard ${heard.length} times: else the worker died or hung up`,
  );
  checks.count('earlierThanAsked', log.early.length, 'no request came before the time that it had asked for');
  checks.count('earlierThanLadder', tooSoon(log, STEPS_MS), 'and none before the step of the ladder');
  const claims = workers.total('claims');
  checks.figures.push(
    figure('deliveries', rows, ''),
    figure('requests', log.visits.length, ''),
    figure('mostAttempts', mostAttempts, ''),
    figure('claims', claims, ''),
    figure('emptyClaims', workers.total('emptyClaims'), ''),
    figure('deliveriesPerClaim', workers.total('claimed') / claims, ''),
  );
}
