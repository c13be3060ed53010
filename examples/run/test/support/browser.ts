import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where a Chromium is installed; null where there is none. */
export const chromium: string | null = PLACES.find((path) => existsSync(path)) ?? null;

export interface BrowserPage {
  evaluate(expression: string): Promise<unknown>;
  /** Of the first element that the selector finds, null while there is none. */
  textOf(selector: string): Promise<unknown>;
  /** What the page's scripts have thrown. */
  errors(): readonly string[];
  /** As PNG. */
  screenshot(): Promise<Buffer>;
}

/** Opens a page in a browser of its own, which is gone when the test ends. */
export async function openInBrowser(url: string): Promise<BrowserPage> {
  const tools = await Tools.connect(await startBrowser());
  await tools.call('Runtime.enable');
  await tools.call('Page.enable');
  await tools.call('Page.navigate', { url });
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await tools.call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    return (result as { value?: unknown }).value;
  };
  return {
    evaluate,
    textOf: (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`),
    errors: () => tools.errors,
    async screenshot() {
      const { data } = await tools.call('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(data as string, 'base64');
    },
  };
}

/** Answers with the address of its tools. */
async function startBrowser(): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'leasehold-browser-'));
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--window-size=900,860',
  ];
  const child = spawn(chromium ?? '', [...args, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], {
    // It leaves files in the temporary folder, too.
    env: { ...process.env, TMPDIR: profile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += String(chunk)));
  const address = (): string => /DevTools listening on ws:\/\/([^/\s]+)\//.exec(output)?.[1] ?? '';
  await expect.poll(address, { timeout: 30_000 }).not.toBe('');
  return address();
}

type Fields = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly exceptionDetails?: unknown };
  readonly result?: Fields;
  readonly error?: Fields;
}

/** The browser's protocol for tools, of which the tests need four calls. */
class Tools {
  readonly errors: string[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#hear(JSON.parse(String(data)) as Message));
  }

  static async connect(address: string): Promise<Tools> {
    const targets = (await (await fetch(`http://${address}/json/list`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const page = targets.find(({ type }) => type === 'page');
    const socket = new WebSocket(page?.webSocketDebuggerUrl ?? '');
    await once(socket, 'open');
    return new Tools(socket);
  }

  async call(method: string, params: Fields = {}): Promise<Fields> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const id = (this.#calls += 1);
    this.#waiting.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await promise;
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  #hear(message: Message): void {
    if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    else if (message.method === 'Runtime.exceptionThrown') this.errors.push(JSON.stringify(message.params?.exceptionDetails));
  }
}
