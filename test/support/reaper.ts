import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Reads `+ pid` and `- pid` until the pipe from its parent closes, which the kernel does however the parent ends. */
const SCRIPT = `
pids=
while read -r sign pid; do
  others=
  for one in $pids; do [ "$one" = "$pid" ] || others="$others $one"; done
  pids=$others
  [ "$sign" = + ] && pids="$pids $pid"
done
for one in $pids; do kill -KILL "$one"; done
`;

/**
 * Kills what is left of the processes watched when this one is gone, killed itself perhaps. A process that is frozen cannot
 * notice that by itself.
 */
export class Reaper {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    this.#process.unref();
    const pipe = this.#process.stdin as Socket;
    pipe.unref();
    pipe.on('error', () => {});
  }

  watch(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#tell(`+ ${pid}`);
    child.once('exit', () => this.#tell(`- ${pid}`));
  }

  /** Nothing is left to watch. */
  end(): void {
    this.#process.stdin?.end();
  }

  #tell(line: string): void {
    if (this.#process.stdin?.writable === true) this.#process.stdin.write(`${line}\n`);
  }
}
