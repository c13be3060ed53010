import { actorHome } from '@leasehold/core/actors';
import { expect, it, onTestFinished } from 'vitest';

function warnings(): string[] {
  const seen: string[] = [];
  const onWarning = ({ name, message }: Error): void => void (name === 'LeaseholdWarning' && seen.push(message));
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  return seen;
}

it('without a Leasehold everything runs here, and one warning says so', async () => {
  const seen = warnings();
  const home = actorHome();
  home.actor('Order', {
    handle: (message, { key, term, signal }) => [message, key, term.isHeld, term.fencingToken, signal.aborted],
  });
  expect(await home.ask('Order', '7', 'x')).toEqual(['x', '7', true, 1n, false]);
  for (let n = 0; n < 10; n += 1) home.tell('Order', String(n), 'x');
  await home.ask('Order', '9', 'x');
  expect(seen).toEqual([expect.stringContaining('without a Leasehold')]);
});

it('its fence has nothing to check, and says so; what tell fails at is a warning', async () => {
  const seen = warnings();
  const home = actorHome();
  home.actor('Order', { handle: (client, { term }) => term.fence(client) });
  await expect(home.ask('Order', '7', {})).rejects.toMatchObject({ code: 'LEASEHOLD_FENCE_UNSUPPORTED' });
  home.tell('Order', '7', {});
  await expect.poll(() => seen.length).toBe(2);
  expect(seen[1]).toMatch(/actor Order, key "7".*LEASEHOLD_FENCE_UNSUPPORTED|actor Order, key "7".*no row to check/);
});

it.each([
  Object.create(null),
  undefined,
  null,
  7,
  Symbol('x'),
  {
    toString: () => {
      throw new Error('no text');
    },
  },
])('whatever a handler of tell throws (%#), the next message runs', async (thrown: unknown) => {
  const seen = warnings();
  const home = actorHome();
  home.actor('Order', {
    handle: (message) => {
      if (message === 'fail') throw thrown;
      return message;
    },
  });
  home.tell('Order', '7', 'fail');
  expect(await home.ask('Order', '7', 'x')).toBe('x');
  await expect.poll(() => seen.length).toBe(2);
});
