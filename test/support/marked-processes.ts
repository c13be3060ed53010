import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

const NAME = 'LEASEHOLD_TEST_MARK';

/** Finds every process that a test has started, and those that they have started: all inherit the mark. Linux alone. */
export class Mark {
  readonly #value = randomUUID();

  /** For the environment of the first process. */
  get env(): Readonly<Record<string, string>> {
    return { [NAME]: this.#value };
  }

  /** Their process ids. */
  async processes(): Promise<string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
    return pids.filter((_, index) => environments[index]?.includes(`${NAME}=${this.#value}`) === true);
  }
}
