import http from 'node:http';
import { randomBetween, randomInteger, seededRandom } from '../../../lab/src/random.ts';
import { waitFor } from '../../../lab/src/run/wait.ts';
import { type Figure, figure } from '../../../support/figures.ts';
import { judge, type LoadHistory } from '../checker/judge.ts';
import type { Outcome } from '../client/outcome.ts';
import { planRequest } from '../client/plan-request.ts';
import { send } from '../client/send.ts';
import type { Measured } from '../instance/config.ts';
import { closedLoop } from '../load/closed-loop.ts';
import { loadFigures } from '../load/figures.ts';
import { growthFigures } from '../load/growth.ts';
import { loadHistory } from '../load/history.ts';
import { keepWhatFailed } from '../load/keep.ts';
import { settle } from '../load/settle.ts';
import { strikeHolder } from '../load/strike.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import { Town } from '../processes/town.ts';
import type { Scenario, Stage } from '../scenario.ts';

const GATEWAYS = 2;
const COMPETITORS = 3;
const CLIENTS = 48;
/** So many requests before the first measurement: code is compiled, pools are filled, caches are warm. */
const WARM_UP_SHARE = 0.2;
const STRIKE_EVERY_MS = [3_000, 7_000] as const;

/** Mixed requests through non-holders, clients that leave, and holders that die. */
export const soak: Scenario = async (stage) => {
  const { options, server, signal } = stage;
  await using town = await Town.found({ server, name: 'soak', leaseMs: options.leaseMs, signal });
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => town.spawn({ competes: false })));
  await Promise.all(Array.from({ length: COMPETITORS }, () => town.spawn()));
  await town.nextHolder();
  const load = new Load(town, stage);
  const warmUp = await load.run(Math.ceil(options.requests * WARM_UP_SHARE));
  const before = await load.rest(gateways);
  const striking = new Striking(town, stage);
  stage.show(() => `soak: ${load.count} of ${options.requests} requests · ${striking.count} holders struck`);
  const outcomes = [...warmUp, ...(await load.run(options.requests - warmUp.length))];
  await striking.stop();
  const after = await load.rest(gateways);
  const left = await connectionsLeft(town);
  const history = await loadHistory(town, outcomes);
  const verdict = judge(history);
  return {
    figures: [
      figure('requests@soak', outcomes.length, '', `>= ${options.requests}`),
      figure('holdersStruck@soak', striking.count, '', `>= ${Math.max(1, Math.floor(options.requests / 10_000))}`),
      ...loadFigures('soak', verdict, history),
      ...kindFigures(history),
      figure('connectionsLeft@soak', left, '', '= 0'),
      ...growthFigures('soak', before, after),
    ],
    failures: [...striking.failures, ...(await keepWhatFailed(town, 'soak', { verdict, history }))],
  };
};

/** The clients of the soak: most of them come to a gateway, some to whoever else does not hold. */
class Load {
  readonly #town: Town;
  readonly #stage: Stage;
  readonly #random;
  #agent = new http.Agent({ keepAlive: true, maxFreeSockets: CLIENTS });
  #holder = '';
  count = 0;

  constructor(town: Town, stage: Stage) {
    this.#town = town;
    this.#stage = stage;
    this.#random = seededRandom(stage.options.seed);
  }

  async run(requests: number): Promise<Outcome[]> {
    const watch = setInterval(() => void this.#look(), 200);
    try {
      return await closedLoop({ requests, clients: CLIENTS, next: () => this.#next(), signal: this.#stage.signal });
    } finally {
      clearInterval(watch);
    }
  }

  /** Measures instances once all clients have gone. */
  async rest(instances: readonly InstanceProcess[]): Promise<Measured[]> {
    this.#agent.destroy();
    this.#agent = new http.Agent({ keepAlive: true, maxFreeSockets: CLIENTS });
    return Promise.all(instances.map((one) => settle(one, this.#town)));
  }

  #next(): Promise<Outcome> {
    const planned = planRequest(`s${this.count++}`, this.#random);
    return send(planned, this.#entry(), this.#agent);
  }

  #entry(): InstanceProcess {
    const others = this.#town.alive.filter(({ instance, isFrozen }) => instance !== this.#holder && !isFrozen);
    const gateways = others.filter(({ config }) => !config.competes);
    const pool = this.#random() < 0.8 ? gateways : others;
    return pool[randomInteger(this.#random, pool.length)] as InstanceProcess;
  }

  async #look(): Promise<void> {
    this.#holder = (await this.#town.holder())?.instance ?? this.#holder;
  }
}

/** Strikes the holder again and again. */
class Striking {
  readonly #town: Town;
  readonly #stage: Stage;
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;
  readonly failures: string[] = [];
  count = 0;

  constructor(town: Town, stage: Stage) {
    this.#town = town;
    this.#stage = stage;
    this.#done = this.#strikeOnAndOn();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #strikeOnAndOn(): Promise<void> {
    const random = seededRandom(this.#stage.options.seed + 1);
    const signal = AbortSignal.any([this.#stopped.signal, this.#stage.signal]);
    try {
      while (!signal.aborted) {
        await strikeHolder(this.#town, this.count % 2 === 0 ? 'kill' : 'freeze');
        this.count += 1;
        await waitFor(randomBetween(random, STRIKE_EVERY_MS), signal);
      }
    } catch (error) {
      this.failures.push(`soak: ${(error as Error).message}`);
    }
  }
}

async function connectionsLeft(town: Town): Promise<number> {
  const measured = await Promise.all(town.alive.map((one) => settle(one, town)));
  return measured.reduce((sum, { connections }) => sum + connections, 0);
}

/** That the load had in it what it is for. */
function kindFigures({ outcomes, fates }: LoadHistory): Figure[] {
  const count = (wanted: (outcome: Outcome) => boolean): number => outcomes.filter(wanted).length;
  const dead = new Set(fates.filter(({ endedFrom }) => endedFrom < Infinity).map(({ instance }) => instance));
  return [
    figure(
      'clientsThatLeft@soak',
      count(({ kind }) => kind === 'left'),
      '',
      '>= 1',
    ),
    figure(
      'breaksNoticed@soak',
      count(({ kind }) => kind === 'broken'),
      '',
      '>= 1',
    ),
    // Of answers that only the end of the connection ends, through the death of the process: not to be told apart.
    figure(
      'endsNobodyCanTell@soak',
      count(
        ({ kind, isWhole, endsWithConnection, by }) => kind === 'whole' && !isWhole && endsWithConnection && dead.has(by ?? ''),
      ),
      '',
    ),
  ];
}
