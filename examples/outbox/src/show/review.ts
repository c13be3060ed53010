import { figure } from '../../../../test/support/figures.ts';
import { audit } from './audit.ts';
import { type Stage, waitFor } from './stage.ts';

/** What PostgreSQL says, once the customers are gone and the queue is empty. */
export async function review(stage: Stage): Promise<void> {
  const { ledger, customers, checks, output, pool, closeShop } = stage;
  output.step('The shop closes; what PostgreSQL has recorded');
  await closeShop();
  await waitFor(stage, ledger.emptyFromNow(), 'the queue running empty');
  const found = await audit(pool);
  const { placed, sentAgain } = customers;
  checks.count(
    'lostOrders',
    Math.abs(placed - found.orders),
    `each of ${placed} accepted orders is there once; ${sentAgain} were sent again`,
  );
  checks.count('undelivered', found.undelivered, `all ${3 * found.orders} envelopes are delivered`);
  checks.count('notOnce', found.notOnce, `each had exactly one effect; targets were told ${found.repeats} times what they knew`);
  checks.count('withoutOrder', found.withoutOrder, 'nothing was delivered without its order');
  checks.count(
    'byNonHolders',
    found.byNonHolders + found.wrongTerms,
    'nothing was delivered by a process that did not hold the role at that time',
  );
  checks.figures.push(figure('orders', found.orders, ''), figure('repeats', found.repeats, ''));
}
