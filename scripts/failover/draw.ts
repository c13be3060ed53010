/** Draws the recorded failover: `node scripts/failover/draw.ts`. A test compares the picture with the recording. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { FailoverRecording, RecordedEvent, Span } from './recording.ts';

const images = new URL('../../docs/images/', import.meta.url);

const WIDTH = 960;
const LEFT = 84;
const RIGHT = 28;
const TOP = 66;
const LANE = 86;
const BAR = 26;

/** Readable on a light and on a dark page: the panel brings its own background, and follows the reader's preference. */
const STYLE = `
  .panel { fill: #ffffff; stroke: #d0d7de; }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; }
  .name { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .on-bar { fill: #ffffff; font-weight: 600; }
  .lane { stroke: #d0d7de; }
  .tick { stroke: #eaeef2; }
  .lease { fill: #ddf4ff; stroke: #54aeff; stroke-dasharray: 4 3; }
  .belief { fill: #0969da; }
  .event { stroke: #cf222e; stroke-width: 2; }
  .event-text { fill: #cf222e; font-weight: 600; }
  .gap { stroke: #1a7f37; stroke-width: 2; }
  .gap-text { fill: #1a7f37; font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #0d1117; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .on-bar { fill: #ffffff; }
    .lane { stroke: #3d444d; }
    .tick { stroke: #21262d; }
    .lease { fill: #121d2f; stroke: #4493f8; }
    .belief { fill: #1f6feb; }
    .event { stroke: #f85149; }
    .event-text { fill: #f85149; }
    .gap { stroke: #3fb950; }
    .gap-text { fill: #3fb950; }
  }
`;

export function drawFailover(recording: FailoverRecording): string {
  const { instances, leaseMs, marginMs, postgres } = recording;
  const height = TOP + instances.length * LANE + 64;
  const canvas = new Canvas(recording);
  const title = `Three instances, one role, PostgreSQL ${postgres}: lease ${leaseMs / 1_000} s, margin ${marginMs / 1_000} s`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${describe(recording)}">
<style>${STYLE}</style>
<rect class="panel" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text class="name" x="20" y="30">${title}</text>
${[...canvas.axis(), ...canvas.lanes(), ...canvas.handovers(), ...canvas.legend(height)].join('\n')}
</svg>
`;
}

class Canvas {
  readonly #recording: FailoverRecording;

  constructor(recording: FailoverRecording) {
    this.#recording = recording;
  }

  *axis(): Iterable<string> {
    const bottom = TOP + this.#recording.instances.length * LANE - 8;
    for (let at = 0; at <= this.#recording.lengthMs; at += 1_000) {
      const x = this.#x(at);
      yield `<line class="tick" x1="${x}" y1="${TOP - 12}" x2="${x}" y2="${bottom}"/>`;
      if (at % 2_000 === 0) yield `<text class="small" x="${x}" y="${bottom + 16}" text-anchor="middle">${at / 1_000} s</text>`;
    }
  }

  *lanes(): Iterable<string> {
    const { instances, leases, beliefs, events } = this.#recording;
    for (const instance of instances) {
      const y = this.#y(instance);
      yield `<text class="name" x="20" y="${y + 5}">${instance}</text>`;
      yield `<line class="lane" x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}"/>`;
    }
    for (const lease of leases) yield this.#bar(lease, 'lease', BAR + 8);
    for (const belief of beliefs) yield this.#belief(belief);
    for (const event of events) if (event.what !== 'start') yield this.#event(event);
  }

  #belief(belief: Span): string {
    const text = `<text class="on-bar" x="${this.#x(belief.from) + 8}" y="${this.#y(belief.instance) + 5}">token ${belief.token}</text>`;
    return `${this.#bar(belief, 'belief', BAR)}\n${text}`;
  }

  #bar({ instance, from, until }: Span, kind: string, height: number): string {
    const width = Math.max(1, round(this.#x(until) - this.#x(from)));
    return `<rect class="${kind}" x="${this.#x(from)}" y="${this.#y(instance) - height / 2}" width="${width}" height="${height}" rx="4"/>`;
  }

  #event({ at, instance, what }: RecordedEvent): string {
    const [x, y] = [this.#x(at), this.#y(instance)];
    const line = `<line class="event" x1="${x}" y1="${y - 24}" x2="${x}" y2="${y + 18}"/>`;
    return `${line}\n<text class="event-text" x="${x + 5}" y="${y - 22}">${WORDS[what]}</text>`;
  }

  /** From what happened to the old holder, to the new holder's first moment. */
  *handovers(): Iterable<string> {
    const { beliefs } = this.#recording;
    for (const [index, next] of beliefs.entries()) {
      const before = beliefs[index - 1];
      if (before !== undefined) yield this.#handover(before, next);
    }
  }

  #handover(before: Span, next: Span): string {
    const x = this.#x(next.from);
    const [from, to] = [this.#y(before.instance), this.#y(next.instance)];
    const edge = BAR / 2 + 4;
    const [y1, y2] = from < to ? [from + edge, to - edge] : [from - edge, to + edge];
    const waited = handoverMs(this.#recording, before, next);
    const text = `<text class="gap-text" x="${x - 6}" y="${round(Math.min(y1, y2) + 18)}" text-anchor="end">${waited}</text>`;
    return `<line class="gap" x1="${x}" y1="${y1}" x2="${x}" y2="${y2}"/>\n${text}`;
  }

  *legend(height: number): Iterable<string> {
    const y = height - 24;
    yield `<rect class="belief" x="20" y="${y - 11}" width="22" height="14" rx="3"/><text class="small" x="50" y="${y}">isHeld is true</text>`;
    yield `<rect class="lease" x="160" y="${y - 11}" width="22" height="14" rx="3"/><text class="small" x="190" y="${y}">the lease on the row, by the database's clock</text>`;
    yield `<line class="gap" x1="480" y1="${y - 12}" x2="480" y2="${y + 4}"/><text class="small" x="490" y="${y}">the next holder's first moment, and how long it took</text>`;
  }

  #x(at: number): number {
    return round(LEFT + (at / this.#recording.lengthMs) * (WIDTH - LEFT - RIGHT));
  }

  #y(instance: string): number {
    return TOP + this.#recording.instances.indexOf(instance) * LANE + LANE / 2;
  }
}

const WORDS: Readonly<Record<RecordedEvent['what'], string>> = {
  start: 'start',
  SIGTERM: 'graceful stop',
  SIGKILL: 'kill -9',
  SIGSTOP: 'frozen',
  SIGCONT: 'thawed',
};

/** What ended the term before: the last thing that was done to its holder, unless that was to start it. */
function causeOf({ events }: FailoverRecording, before: Span, next: Span): RecordedEvent | undefined {
  return events.findLast(({ at, instance, what }) => what !== 'start' && instance === before.instance && at <= next.from);
}

function handoverMs(recording: FailoverRecording, before: Span, next: Span): string {
  const cause = causeOf(recording, before, next);
  if (cause?.what === 'SIGSTOP') return `${Math.round(next.from - before.until)} ms after isHeld turned false`;
  const ms = next.from - (cause?.at ?? before.until);
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** For people who do not see the picture. */
function describe(recording: FailoverRecording): string {
  const { beliefs } = recording;
  const steps = beliefs.slice(1).map((next, index) => {
    const before = beliefs[index] as Span;
    const cause = causeOf(recording, before, next);
    return `${before.instance}: ${WORDS[cause?.what ?? 'start']}; ${next.instance} holds with token ${next.token}, ${handoverMs(recording, before, next)}${cause?.what === 'SIGSTOP' ? '' : ' later'}`;
  });
  return `${beliefs[0]?.instance} holds with token ${beliefs[0]?.token}. ${steps.join('. ')}.`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function readRecording(): FailoverRecording {
  return JSON.parse(readFileSync(new URL('failover.json', images), 'utf8')) as FailoverRecording;
}

if (import.meta.main) writeFileSync(new URL('failover.svg', images), drawFailover(readRecording()));
