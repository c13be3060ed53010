/** Many readers of event streams, who check that nothing is missing and nothing out of order, and note how old each event is. */
import { Agent, get, type IncomingMessage } from 'node:http';
import { PATHS } from '../answers.ts';
import { median } from '../../support/median.ts';
import { answerCalls } from '../../support/processes/calls.ts';
import { machineTimeMs } from './event-streams.ts';

export interface OpenOrder {
  readonly origin: string;
  readonly group: string;
  readonly count: number;
}

export interface AwaitOrder {
  readonly group: string;
  readonly events: number;
  readonly withinMs: number;
}

export interface Received {
  readonly events: number;
  readonly outOfOrder: number;
  readonly medianLagMs: number;
}

/** Fewer than a server's backlog: what does not fit in there is tried again a second later. */
const OPENED_AT_ONCE = 100;

class Group {
  lags: number[] = [];
  outOfOrder = 0;
  broken = 0;

  read(answer: IncomingMessage): void {
    let expected = 0;
    let rest = '';
    answer.setEncoding('latin1');
    answer.on('data', (text: string) => {
      const now = machineTimeMs();
      const events = (rest + text).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) this.#take(event, expected++, now);
    });
    answer.on('close', () => (this.broken += 1));
    answer.on('error', () => {});
  }

  #take(event: string, expected: number, now: number): void {
    const [, number, sentAt] = event.split(' ');
    if (Number(number) !== expected) this.outOfOrder += 1;
    this.lags.push(now - Number(sentAt));
  }
}

const groups = new Map<string, Group>();
const agent = new Agent();

async function open({ origin, group: name, count }: OpenOrder): Promise<void> {
  const group = new Group();
  groups.set(name, group);
  const openOne = async (): Promise<void> => group.read(await openStream(`${origin}${PATHS.events}/${name}`));
  for (let opened = 0; opened < count; opened += OPENED_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - opened) }, openOne));
  }
}

function openStream(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { Accept: 'text/event-stream' } }, (answer) => {
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`${url} answered ${answer.statusCode}`));
    });
    request.on('error', reject);
  });
}

/** What came since the last time, once as many events as expected are there, or time is up. */
async function received({ group: name, events, withinMs }: AwaitOrder): Promise<Received> {
  const group = groups.get(name);
  if (group === undefined) throw new Error(`no group ${name}`);
  const deadline = performance.now() + withinMs;
  while (group.lags.length < events && group.broken === 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { lags, outOfOrder } = group;
  group.lags = [];
  group.outOfOrder = 0;
  return { events: lags.length, outOfOrder, medianLagMs: median(lags) };
}

answerCalls({ open, received });
