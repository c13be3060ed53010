/** What the command sends to one of its processes, and what comes back. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** Answers the command's calls until it is gone, and goes with it, however it ends. */
export function answerCalls(handlers: Handlers): void {
  process.on('message', (call: Call) => void answer(handlers, call));
  process.on('disconnect', () => process.exit());
}

async function answer(handlers: Handlers, { id, name, argument }: Call): Promise<void> {
  try {
    const handler = handlers[name] as ((argument: unknown) => unknown) | undefined;
    if (handler === undefined) throw new Error(`no call ${name}`);
    reply({ id, result: await handler(argument) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function reply(message: Reply): void {
  process.send?.(message);
}
