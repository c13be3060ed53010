import { parseArgs } from 'node:util';
import { randomInteger } from '../../lab/src/random.ts';

const SCENARIOS = ['soak', 'failovers', 'streams', 'websocket'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface ProxyLabOptions {
  readonly only: readonly ScenarioName[];
  readonly seed: number;
  readonly json: boolean;
  readonly leaseMs: number;
  /** Of the soak. */
  readonly requests: number;
  readonly failovers: number;
  /** Of the failovers, per second. */
  readonly rate: number;
  /** Open at a time. */
  readonly streams: number;
  /** Of the WebSocket echo. */
  readonly messages: number;
  /** Refused upgrades. */
  readonly upgrades: number;
}

type Sizes = Pick<ProxyLabOptions, 'requests' | 'failovers' | 'rate' | 'streams' | 'messages' | 'upgrades'>;

const FULL: Sizes = { requests: 100_000, failovers: 50, rate: 200, streams: 1_000, messages: 10_000, upgrades: 1_000 };
const QUICK: Sizes = { requests: 3_000, failovers: 3, rate: 100, streams: 100, messages: 1_000, upgrades: 100 };

export const USAGE = `Usage: lab:proxy [--only ${SCENARIOS.join(',')}] [--quick] [--seed <n>] [--json]
  [--requests ${FULL.requests}] [--failovers ${FULL.failovers}] [--rate ${FULL.rate}] [--streams ${FULL.streams}] [--messages ${FULL.messages}] [--upgrades ${FULL.upgrades}]`;

/** Long enough for a busy machine, and the shorter the sooner a role is taken over. */
const LEASE_MS = 2_000;

/** @throws {Error} whose message is for the person who typed the arguments. */
export function readOptions(args: readonly string[]): ProxyLabOptions {
  const { values } = parseArgs({
    args: args.filter((arg) => arg !== '--'),
    options: {
      only: { type: 'string', default: SCENARIOS.join(',') },
      quick: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(randomInteger(Math.random, 1_000_000)) },
      json: { type: 'boolean', default: false },
      requests: { type: 'string' },
      failovers: { type: 'string' },
      rate: { type: 'string' },
      streams: { type: 'string' },
      messages: { type: 'string' },
      upgrades: { type: 'string' },
    },
  });
  const sizes = values.quick ? QUICK : FULL;
  const size = (name: keyof Sizes): number => readInteger(name, values[name] ?? String(sizes[name]), 1);
  return {
    only: readScenarios(values.only),
    seed: readInteger('seed', values.seed, 0),
    json: values.json,
    leaseMs: LEASE_MS,
    requests: size('requests'),
    failovers: size('failovers'),
    rate: size('rate'),
    streams: size('streams'),
    messages: size('messages'),
    upgrades: size('upgrades'),
  };
}

function readScenarios(text: string): ScenarioName[] {
  const names = text.split(',');
  for (const name of names) {
    if (!(SCENARIOS as readonly string[]).includes(name))
      throw new Error(`--only names '${name}'; give some of ${SCENARIOS.join(',')}.`);
  }
  return SCENARIOS.filter((name) => names.includes(name));
}

function readInteger(name: string, text: string, min: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}; give a whole number of at least ${min}.`);
}
