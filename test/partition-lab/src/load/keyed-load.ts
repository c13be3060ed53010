import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomInteger } from '../../../lab/src/random.ts';
import type { Outcome } from '../checker/history.ts';
import { KEYS } from '../instance/config.ts';
import type { InstanceProcess } from '../processes/instance-process.ts';
import type { Town } from '../processes/town.ts';
import { send } from './send.ts';

const TICK_MS = 5;
/** A refused request is sent anew so soon, which makes it a measure of how long its key had no owner. */
const RETRY_MS = 15;
const MOST_RETRIES = 400;
/** More than these wait only where the machine is too slow for the load: then it would take all its connections, too. */
const MOST_UNDER_WAY = 1_000;

/** Sends so many requests a second for keys at random to instances at random, whatever becomes of those before, up to a bound. */
export class KeyedLoad {
  readonly #town: Town;
  readonly #random: Random;
  readonly #perSecond: number;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #sent: Promise<void>[] = [];
  readonly #outcomes: Outcome[] = [];
  #underWay = 0;
  #skipped = 0;

  constructor(options: { readonly town: Town; readonly random: Random; readonly perSecond: number }) {
    this.#town = options.town;
    this.#random = options.random;
    this.#perSecond = options.perSecond;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  get sent(): number {
    return this.#sent.length;
  }

  /** Requests that were due and not sent, as too many were under way. */
  get skipped(): number {
    return this.#skipped;
  }

  /** What came of all of them, once the last is over. */
  async stop(): Promise<readonly Outcome[]> {
    clearInterval(this.#timer);
    await Promise.all(this.#sent);
    this.#agent.destroy();
    return this.#outcomes;
  }

  #tick(): void {
    const due = ((performance.now() - this.#startedAt) / 1_000) * this.#perSecond;
    while (this.#sent.length + this.#skipped < due) {
      if (this.#underWay < MOST_UNDER_WAY) this.#sent.push(this.#send(this.#sent.length));
      else this.#skipped += 1;
    }
  }

  async #send(number: number): Promise<void> {
    this.#underWay += 1;
    await this.#ask(number);
    this.#underWay -= 1;
  }

  /** Until an owner answers. */
  async #ask(number: number): Promise<void> {
    const key = KEYS[randomInteger(this.#random, KEYS.length)] as string;
    for (let attempt = 0; attempt <= MOST_RETRIES; attempt += 1) {
      const { well } = this.#town;
      const { port } = well[randomInteger(this.#random, well.length)] as InstanceProcess;
      const outcome = await send({ id: `r${number}.${attempt}`, key, port, isRetry: attempt > 0 }, this.#agent);
      this.#outcomes.push(outcome);
      if (outcome.by !== null) return;
      await sleep(RETRY_MS);
    }
  }
}
