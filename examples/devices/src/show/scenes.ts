import { figure } from '../../../../test/support/figures.ts';
import { leastMoves } from '../../../../test/support/least-moves.ts';
import type { Member } from './fleet.ts';
import { ROLES } from './ledger.ts';
import { EVEN_MS, LEASE_MS, longest, OUTAGE_MS, rest, seconds, type Stage, TAKEOVER_MS, untilEven, waitFor } from './stage.ts';

/** The first one has everything. */
export async function begin(stage: Stage): Promise<void> {
  const { fleet, ledger, park, checks, output } = stage;
  output.step(
    'One process starts',
    `The devices are spread over ${ROLES.length} partitions by a hash of their ids. Whoever holds a partition owns its devices; alone, that is all of them.`,
  );
  const first = await fleet.spawn();
  await untilEven(stage);
  const devices = park.connected(first.label);
  checks.check(
    ledger.count(first.label) === ROLES.length && devices === park.ids.length,
    `${first.label} holds all ${ROLES.length} partitions, and a connection to each of ${devices} devices`,
  );
  await rest(stage);
}

/** Three more, one after the other: no two are told of each other, and there is no leader. */
export async function grow(stage: Stage): Promise<void> {
  for (const count of [2, 3, 4]) {
    stage.output.step(
      `Process ${count} of 4 joins`,
      'Whoever has more than its share hands over half of the excess with each heartbeat (1 s): connections are closed here, then opened there.',
    );
    await join(stage, `untilEven@${count}`);
    await rest(stage);
  }
}

async function join(stage: Stage, name: string): Promise<void> {
  const { fleet, ledger, checks } = stage;
  let joinedAt = 0;
  const { moves, least } = await countMoves(stage, async () => {
    await fleet.spawn();
    joinedAt = performance.now();
    await untilEven(stage);
  });
  const ms = Math.round(performance.now() - joinedAt);
  const shares = fleet.running.map(({ label }) => `${label} ${ledger.count(label)}`).join(', ');
  checks.measure(
    figure(name, ms, 'ms', `<= ${EVEN_MS}`),
    `even after ${seconds(ms)}: ${shares}; ${moves} moved, ${least} had to`,
  );
}

/** What moved because of a change, and what had to. */
async function countMoves(stage: Stage, change: () => Promise<void>): Promise<{ moves: number; least: number }> {
  const { fleet, ledger } = stage;
  const { holdings } = ledger;
  const since = await ledger.now();
  await change();
  const moves = await ledger.begunSince(since);
  const least = leastMoves(holdings, fleet.labels, ROLES);
  stage.moves.made += moves;
  stage.moves.least += least;
  return { moves, least };
}

const COMMANDS = 40;
const MOST = 0.9;

/** Any process takes a command for any device. */
export async function command(stage: Stage): Promise<void> {
  const { traffic, checks, output } = stage;
  output.step(
    'Commands go to any process',
    'A load balancer does not know who owns a device. The proxy brings each command to the owner, which sends it over its one open connection.',
  );
  const known = traffic.answers.length;
  await waitFor(stage, () => traffic.answers.length >= known + COMMANDS, `${COMMANDS} more commands`);
  const answers = traffic.answers.slice(known);
  const executed = answers.filter(({ by }) => by !== null);
  const forwarded = executed.filter(({ asked, by }) => asked !== by);
  // On a busy machine one or another may come in the moment in which a lease is late.
  checks.check(
    executed.length >= MOST * answers.length && forwarded.length > 0,
    `${executed.length} of ${answers.length} commands were executed by the owner of the device; ${forwarded.length} of them were forwarded`,
  );
  await rest(stage);
}

/** As in a deploy: it hands its devices over before it ends. */
export async function stopOne(stage: Stage): Promise<void> {
  const { fleet, park, checks, output } = stage;
  const member = choose(stage);
  output.step(
    `${member.label} is stopped (SIGTERM), as in a deploy`,
    'It closes its connections, gives its partitions back and wakes the others, which connect at once. Then it ends.',
  );
  const devices = park.connected(member.label);
  const from = performance.now();
  const { moves, least } = await countMoves(stage, async () => {
    const gone = fleet.end(member, 'SIGTERM');
    await untilEven(stage);
    await gone;
  });
  const gap = longest(park.records.gaps.filter((one) => one.from >= from && one.after === member.label));
  checks.measure(
    figure('longestOutageOnStop', gap, 'ms', `<= ${OUTAGE_MS}`),
    `of its ${devices} devices none was without an owner for longer than ${gap} ms (at most ${OUTAGE_MS} ms)`,
  );
  const { ending } = member.copy;
  checks.check(
    ending === 'exit code 0',
    `${member.label} ended by itself (${ending}); ${moves} partitions moved, ${least} had to`,
  );
  await rest(stage);
}

/** As in a crash: nobody gives anything back. */
export async function killOne(stage: Stage): Promise<void> {
  const { fleet, ledger, park, checks, output } = stage;
  const member = choose(stage);
  output.step(
    `${member.label} is killed (kill -9)`,
    `Nobody knows whether it is dead or only silent. Its leases (${LEASE_MS / 1_000} s) have to run out; then the others share what it held.`,
  );
  const devices = park.connected(member.label);
  const from = performance.now();
  let takeoverMs = 0;
  const { moves, least } = await countMoves(stage, async () => {
    const roles = ledger.rolesOf(member.label);
    const killedAt = await ledger.now();
    await fleet.end(member, 'SIGKILL');
    await untilEven(stage);
    takeoverMs = Math.round(await ledger.takenAfter(killedAt, roles));
  });
  checks.measure(
    figure('takeoverAfterKill', takeoverMs, 'ms', `<= ${TAKEOVER_MS}`),
    `the last of its partitions was taken over after ${takeoverMs} ms (at most ${TAKEOVER_MS} ms); ${moves} moved, ${least} had to`,
  );
  const gap = longest(park.records.gaps.filter((one) => one.from >= from && one.after === member.label));
  checks.measure(figure('longestOutageOnKill', gap, 'ms'), `its ${devices} devices were connected anew after ${gap} ms at most`);
  await rest(stage);
}

/** Some process that runs, not always the same. */
function choose({ fleet, random }: Stage): Member {
  return fleet.running[Math.floor(random() * fleet.running.length)] as Member;
}

export async function joinAgain(stage: Stage): Promise<void> {
  stage.output.step('A new process joins', 'Only what it is to have moves: nothing changes hands between those that were there.');
  await join(stage, 'untilEven@again');
  await rest(stage);
}

/** What the devices saw and what the database recorded, over the whole run. */
export async function review(stage: Stage): Promise<void> {
  const { ledger, park, checks, output, traffic, moves } = stage;
  output.step('What the devices saw, and what PostgreSQL recorded');
  const history = await ledger.history();
  const { secondConnections, strayCommands, gaps } = park.records;
  checks.count(
    'devicesWithTwoOwners',
    secondConnections + history.overlaps,
    `no device had two connections at once, and of ${history.terms} terms no two of a partition overlap`,
  );
  checks.count('fallingTokens', history.fallingTokens, 'every term has a higher fencing token than the one before');
  checks.count(
    'commandsByNonOwners',
    strayCommands + history.commandsOutsideTheirTerm,
    `of ${history.commands} commands none was sent by a process that was not the owner at that time`,
  );
  checks.measure(
    figure('movesAgainstLeast', moves.made / moves.least, 'x', '<= 1.1'),
    `${moves.made} partitions moved where ${moves.least} had to`,
  );
  const forwarded = traffic.answers.filter(({ asked, by }) => by !== null && by !== asked).length;
  const refused = traffic.answers.filter(({ by }) => by === null).length;
  checks.figures.push(
    figure('commands', traffic.answers.length, ''),
    figure('forwarded', forwarded, ''),
    figure('refused', refused, ''),
    figure('longestOutageOnJoin', longest(gaps.filter(({ after }) => isHere(stage, after))), 'ms'),
  );
}

/** Whoever is still there has lost devices by handing them over, and in no other way. */
function isHere({ fleet }: Stage, label: string): boolean {
  return fleet.labels.includes(label);
}
