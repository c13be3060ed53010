import { figure } from '../../../support/figures.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { growthFigures } from '../load/growth.ts';
import { settle } from '../load/settle.ts';
import { Town } from '../processes/town.ts';
import type { Scenario } from '../scenario.ts';
import { untilItForwards } from '../streams/open-streams.ts';
import { echo } from '../upgrades/echo.ts';
import { refusedUpgrades } from '../upgrades/refused.ts';

/** Upgrades through a non-holder: a tunnel where the holder accepts, a framed answer where it does not, and nothing left over. */
export const websocket: Scenario = async ({ options, server, signal, show }) => {
  await using town = await Town.found({ server, name: 'websocket', leaseMs: options.leaseMs, signal });
  const gateway = await town.spawn({ competes: false });
  const holder = await town.spawn();
  await untilItForwards(town, gateway);
  const { messages, upgrades, seed } = options;
  const measure = (): Promise<Awaited<ReturnType<typeof settle>>[]> =>
    Promise.all([gateway, holder].map((one: InstanceProcess) => settle(one, town)));
  // The same once before: code is compiled, caches are warm.
  await echo(gateway, { count: messages, seed });
  await refusedUpgrades(town, gateway, upgrades);
  const before = await measure();
  show(() => `websocket: ${messages} messages`);
  const echoed = await echo(gateway, { count: messages, seed });
  show(() => `websocket: ${upgrades} refused upgrades`);
  const refused = await refusedUpgrades(town, gateway, upgrades);
  const after = await measure();
  return {
    figures: [
      figure('messagesEchoedInOrder', echoed.echoed, '', `= ${echoed.sent}`),
      figure('messagesWrong', echoed.wrong, '', '= 0'),
      figure('closingHandshakes', echoed.closedInOrder, '', `= ${echoed.connections}`),
      figure('upgradesRefused', refused.count, '', `>= ${upgrades}`),
      figure('refusalsMisframed', refused.misframed.length, '', '= 0'),
      figure('refusalsLeftOpen', refused.leftOpen.length, '', '= 0'),
      figure(
        'connectionsLeft@websocket',
        after.reduce((sum, { connections }) => sum + connections, 0),
        '',
        '= 0',
      ),
      ...growthFigures('websocket', before, after),
    ],
    failures: [...new Set([...refused.misframed, ...refused.leftOpen])],
  };
};
