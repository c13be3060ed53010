/** The load: a fixed number of connections to each subject, each with its next request as soon as it has its answer. */
import { REQUEST_FIELDS, type Scenario } from '../answers.ts';
import { answerCalls } from '../../support/processes/calls.ts';
import { LoadConnection, type LoadExchange, type LoadWork } from './load-connection.ts';

export interface LoadOrder {
  readonly origin: string;
  readonly scenario: Scenario;
  readonly requests: number;
}

/** So many that the proxy never waits for a next request, and so few that it is not about queues. */
const CONNECTIONS = 50;
const PATIENCE_MS = 30_000;

class Load implements LoadWork {
  readonly #host: string;
  readonly #connections: readonly LoadConnection[];
  #exchange: LoadExchange | null = null;
  #unsent = 0;
  #unanswered = 0;
  #failures: string[] = [];
  #allAnswered: () => void = () => {};

  constructor(origin: string) {
    const { host, port } = new URL(origin);
    this.#host = host;
    this.#connections = Array.from({ length: CONNECTIONS }, () => new LoadConnection(Number(port), this));
  }

  /** Resolves when every request has its answer, or none will come. Returns what came in place of right ones. */
  async run({ scenario, requests }: LoadOrder): Promise<string[]> {
    this.#exchange = toExchange(scenario, this.#host);
    this.#unsent = requests;
    this.#unanswered = requests;
    this.#failures = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#allAnswered = resolve;
    const timer = setTimeout(resolve, PATIENCE_MS);
    for (const connection of this.#connections) connection.run();
    await promise;
    clearTimeout(timer);
    return [...this.#failures, ...Array.from({ length: this.#unanswered }, () => 'no answer')];
  }

  next(): LoadExchange | null {
    if (this.#unsent === 0) return null;
    this.#unsent -= 1;
    return this.#exchange;
  }

  answered(failure: string | null): void {
    if (failure !== null) this.#failures.push(failure);
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#allAnswered();
  }
}

function toExchange({ method, path, body = '', answer }: Scenario, host: string): LoadExchange {
  const fields = { Host: host, Connection: 'keep-alive', ...REQUEST_FIELDS };
  const framing = method === 'GET' ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const lines = Object.entries({ ...fields, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1');
  return { request, answerLength: answer.length };
}

const loads = new Map<string, Load>();

function loadOn(origin: string): Load {
  const load = loads.get(origin) ?? new Load(origin);
  loads.set(origin, load);
  return load;
}

answerCalls({ run: (order: LoadOrder) => loadOn(order.origin).run(order) });
