import { figure } from '../../../../test/support/figures.ts';
import { post } from './customers.ts';
import type { Member } from './fleet.ts';
import { LEASE_MS, MOVE_MS, rest, type Stage, TAKEOVER_MS, waitFor } from './stage.ts';

/** The first takes both roles; one goes to the second. */
export async function begin(stage: Stage): Promise<void> {
  const { fleet, ledger, checks, output } = stage;
  const [first, second] = fleet.members;
  output.step(
    'Two processes start, and share the roles',
    'Each order is written with three envelopes in one transaction: for the holder of billing, for that of shipping, and for whoever comes first.',
  );
  await fleet.start(first);
  await waitFor(stage, () => ['billing', 'shipping'].every((role) => ledger.holder(role) === first.label), 'copy-A holding both');
  await fleet.start(second);
  await moveTo(stage, 'shipping', second);
  await waitFor(stage, () => ledger.sum('delivered') >= 30, '30 deliveries');
  checks.check(
    ledger.holder('billing') === first.label && ledger.holder('shipping') === second.label,
    `${first.label} delivers what is for billing, ${second.label} what is for shipping`,
  );
  await rest(stage);
}

/**
 * Asks whoever holds the role to step down, until the target has it. As long as the target stands aside itself, the one that has
 * stepped down may take it again first: then it is asked again, a lease later.
 */
async function moveTo(stage: Stage, role: string, target: Member): Promise<void> {
  const { fleet, ledger } = stage;
  let askAgainAt = 0;
  let refused: unknown = null;
  await waitFor(
    stage,
    () => {
      const holder = fleet.named(ledger.holder(role));
      if (holder !== undefined && holder !== target && performance.now() >= askAgainAt) {
        askAgainAt = performance.now() + LEASE_MS;
        post(`${holder.origin}/roles/${role}/step-down`).catch((error: unknown) => (refused = error));
      }
      if (refused !== null) throw refused as Error;
      return holder === target;
    },
    `${target.label} holding ${role}`,
  );
}

/** The holder gives the role to the other process while it delivers. */
export async function moveRole(stage: Stage): Promise<void> {
  const { fleet, checks, output } = stage;
  const [first, second] = fleet.members;
  output.step(
    `${first.label} steps down from billing`,
    'It finishes what it is delivering, and hands back what it had claimed: none of it costs an attempt.',
  );
  const ms = await untilDelivering(stage, 'billing', () => moveTo(stage, 'billing', second));
  checks.measure(
    figure('deliveringAfterStepDown', ms, 'ms', `<= ${MOVE_MS}`),
    `${second.label} delivers for billing after ${ms} ms (at most ${MOVE_MS} ms)`,
  );
  await moveTo(stage, 'billing', first);
  await rest(stage);
}

/** From the change until somebody delivers what is for this role. */
async function untilDelivering(stage: Stage, role: string, change: () => Promise<void>): Promise<number> {
  const { ledger } = stage;
  const from = performance.now();
  await change();
  const known = ledger.delivered(role);
  await waitFor(stage, () => ledger.delivered(role) > known, `deliveries for ${role}`);
  return Math.round(performance.now() - from);
}

/** As in a deploy. */
export async function stopOne(stage: Stage): Promise<void> {
  const { fleet, ledger, checks, output } = stage;
  const [first, second] = fleet.members;
  output.step(
    `${first.label} is stopped (SIGTERM), as in a deploy`,
    'Deliveries that run come to their end under the role, then it is given back; the other process is woken, and goes on.',
  );
  let gone: Promise<void> = Promise.resolve();
  const ms = await untilDelivering(stage, 'billing', async () => {
    gone = fleet.end(first, 'SIGTERM');
    await waitFor(stage, () => ledger.holder('billing') === second.label, `${second.label} holding billing`);
  });
  checks.measure(
    figure('deliveringAfterStop', ms, 'ms', `<= ${MOVE_MS}`),
    `${second.label} delivers for billing after ${ms} ms (at most ${MOVE_MS} ms)`,
  );
  await gone;
  const { ending } = first.copy;
  checks.check(ending === 'exit code 0', `${first.label} ended by itself (${ending})`);
  await fleet.start(first);
  await moveTo(stage, 'billing', first);
  await rest(stage);
}

/** As in a crash: nobody gives anything back. */
export async function killOne(stage: Stage): Promise<void> {
  const { fleet, ledger, checks, output } = stage;
  const [first, second] = fleet.members;
  output.step(
    `${second.label} is killed (kill -9)`,
    `Its role is free when its lease has run out (${LEASE_MS / 1_000} s), and so are the envelopes that it had claimed. Until then they wait; nobody else may deliver them.`,
  );
  const ms = await untilDelivering(stage, 'shipping', async () => {
    await fleet.end(second, 'SIGKILL');
    await waitFor(stage, () => ledger.holder('shipping') === first.label, `${first.label} holding shipping`);
  });
  checks.measure(
    figure('deliveringAfterKill', ms, 'ms', `<= ${TAKEOVER_MS}`),
    `${first.label} delivers for shipping after ${ms} ms (at most ${TAKEOVER_MS} ms)`,
  );
  await fleet.start(second);
  await moveTo(stage, 'shipping', second);
  await rest(stage);
}

const POISON = 'anvil';

/** What cannot be delivered is put away, and holds up nothing. */
export async function poison(stage: Stage): Promise<void> {
  const { fleet, ledger, customers, checks, output } = stage;
  output.step(
    'Somebody orders what shipping does not know',
    'It is tried four times, later each time, then buried. When the cause is mended, a button makes it due again.',
  );
  const dead = (): number => ledger.target('shipping')?.dead ?? 0;
  const known = ledger.delivered('shipping');
  await customers.order(POISON);
  await waitFor(stage, () => dead() === 1, 'the poison being buried');
  const passed = ledger.delivered('shipping') - known;
  checks.check(passed > 0, `it was buried after its last attempt; ${passed} others were shipped meanwhile`);
  await rest(stage);
  const [first] = fleet.members;
  await post(`${first.origin}/stock/${POISON}`);
  const answer = await post(`${first.origin}/outbox/dead/requeue`);
  const { requeued } = (await answer.json()) as { requeued: number };
  await waitFor(stage, () => dead() === 0, 'the poison being due again');
  checks.check(requeued === 1, `${requeued} was made due again`);
  await rest(stage);
}
