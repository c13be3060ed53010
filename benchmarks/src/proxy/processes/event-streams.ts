import type { ServerResponse } from 'node:http';

export interface SendOrder {
  /** The streams of one path through the machine: direct, or through one proxy. */
  readonly group: string;
  readonly eventsPerStream: number;
  /** How many streams get an event at once, and how long it then takes to the next ones. */
  readonly batch: number;
  readonly everyMs: number;
}

/** The open event streams of the holder. An event says its number in its stream, and when it was written. */
export class EventStreams {
  readonly #groups = new Map<string, { readonly response: ServerResponse; sent: number }[]>();

  open(group: string, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.flushHeaders();
    const streams = this.#groups.get(group) ?? [];
    this.#groups.set(group, streams);
    streams.push({ response, sent: 0 });
  }

  async send({ group, eventsPerStream, batch, everyMs }: SendOrder): Promise<void> {
    const streams = this.#groups.get(group) ?? [];
    const total = streams.length * eventsPerStream;
    for (let sent = 0; sent < total; sent += batch) {
      const due = Math.min(batch, total - sent);
      for (let n = 0; n < due; n += 1) this.#sendTo(streams[(sent + n) % streams.length]);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  #sendTo(stream: { readonly response: ServerResponse; sent: number } | undefined): void {
    stream?.response.write(`data: ${stream.sent++} ${machineTimeMs()}\n\n`);
  }
}

/** The same clock in all processes of a machine. */
export function machineTimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
