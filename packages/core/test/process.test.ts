import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

/** Runs a program of its own, in which nothing but Leasehold keeps the process alive. */
async function run(program: string): Promise<{ code: number | null; said: string }> {
  const prelude = `
    import { createLeasehold } from '@leasehold/core';
    import { memoryStore } from '@leasehold/core/memory';
    const TIMING = { leaseDuration: 500, renewInterval: 100 };`;
  const child = spawn(
    process.execPath,
    ['--conditions=@leasehold/source', '--no-warnings', '--input-type=module', '--eval', prelude + program],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { said: await text(child.stdout), code: await ended };
}

describe('a process with nothing but a Leasehold', () => {
  it('lives until the store can be reached, and ends by itself after stop', async () => {
    const result = await run(`
      const store = memoryStore();
      const open = store.open;
      let tries = 0;
      store.open = (...given) => (tries++ < 4 ? Promise.reject(new Error('ECONNREFUSED')) : open(...given));
      const leasehold = createLeasehold({ ...TIMING, store });
      await leasehold.start();
      console.log('started after', tries, 'tries');
      await leasehold.stop();`);
    expect(result).toEqual({ code: 0, said: 'started after 5 tries\n' });
  });

  it('lives while the store is away, and takes the role when it is back', async () => {
    const result = await run(`
      const store = memoryStore();
      const heartbeat = store.heartbeat;
      let beats = 0;
      store.heartbeat = (...given) => (beats++ > 0 && beats < 12 ? Promise.reject(new Error('ECONNRESET')) : heartbeat(...given));
      const leasehold = createLeasehold({ ...TIMING, store });
      const lease = leasehold.role('r');
      const terms = new Set();
      await leasehold.start();
      lease.every('20ms', async (term) => {
        terms.add(term.fencingToken);
        if (terms.size === 2) void leasehold.stop();
      });
      process.on('exit', () => console.log([...terms].join()));`);
    expect(result).toEqual({ code: 0, said: '1,2\n' });
  });

  it('ends when start fails for good', async () => {
    const result = await run(`
      const store = memoryStore();
      store.open = () => Promise.reject(new Error('ECONNREFUSED'));
      const leasehold = createLeasehold({ ...TIMING, store, startup: 'fail' });
      await leasehold.start().catch((error) => console.log(error.message));`);
    expect(result).toEqual({ code: 0, said: 'ECONNREFUSED\n' });
  });
});
