import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Reads `+pid` and `-pid` lines until the pipe from its parent closes, which the kernel does however the parent ends,
 * and kills whatever is left: a frozen worker does not notice by itself that the lab is gone.
 */
const SCRIPT = `
pids=' '
while read -r line; do
  case $line in
    +*) pids="$pids\${line#+} " ;;
    -*) pids=$(printf %s "$pids" | sed "s/ \${line#-} / /") ;;
  esac
done
for pid in $pids; do kill -KILL "$pid"; done
`;

/** Sees to it that no worker outlives the lab. */
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
    if (child.pid === undefined) return;
    this.#tell(`+${child.pid}\n`);
    child.once('exit', () => this.#tell(`-${child.pid}\n`));
  }

  #tell(line: string): void {
    if (this.#process.stdin?.writable) this.#process.stdin.write(line);
  }
}
