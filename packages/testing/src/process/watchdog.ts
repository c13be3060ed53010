import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Reads process ids, one a line (an empty line: nothing to watch), until the pipe from its parent closes, which the
 * kernel does however the parent ends. Then it ends the last process named, a stopped one too, and removes the folder.
 * The removal is repeated because a program that is being killed may still write there. A zombie counts as dead: in a
 * container, nobody may be there to reap it.
 */
const SCRIPT = `
folder=$1; watched=
alive() { [ -n "$watched" ] && kill -0 "$watched" && ! grep -q '^State:.Z' "/proc/$watched/status"; }
while read -r line; do watched=$line; done
if [ -n "$watched" ]; then kill -QUIT "$watched"; kill -CONT "$watched"; fi
tries=0
until rm -rf "$folder" && [ ! -e "$folder" ] || [ $tries -ge 70 ]; do tries=$((tries + 1)); sleep 0.1; done
tries=0
while alive; do
  tries=$((tries + 1))
  if [ $tries -ge 70 ]; then kill -KILL "$watched"; break; fi
  sleep 0.1
done
`;

/**
 * Ends a child process and removes its folder when this process is gone, by whatever end: an exit, an exception, a
 * signal, `SIGKILL`. It is a process of its own, so that this one needs no exit or signal handlers, which would change
 * how the caller's program (or its test runner) takes a Ctrl-C.
 */
export class Watchdog {
  readonly #process: ChildProcess;

  constructor(folder: string) {
    this.#process = spawn('/bin/sh', ['-c', SCRIPT, 'leasehold-watchdog', folder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#process.unref();
    const pipe = this.#process.stdin as Socket;
    pipe.unref();
    // A watchdog that somebody killed must not take this process with it (EPIPE).
    pipe.on('error', () => {});
  }

  /** Watches this process in place of the last one. */
  watch(child: ChildProcess): void {
    this.#tell(`${child.pid ?? ''}\n`);
    child.once('exit', () => this.#tell('\n'));
    // A program that cannot be run is noticed by its missing process id.
    child.on('error', () => {});
  }

  /** Does the work of a gone parent now. Resolves when the process watched and the folder are gone. */
  async release(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.ref();
    const exit = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await exit;
  }

  #tell(line: string): void {
    if (this.#process.stdin?.writable) this.#process.stdin.write(line);
  }
}
