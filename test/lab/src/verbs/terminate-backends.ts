import type { ProcessVerb } from './verb.ts';

/** The server ends every session of the process, as a failover or an impatient administrator does. */
export const terminateBackends: ProcessVerb = {
  kind: 'terminateBackends',
  strikes: 'process',
  lasts: [100, 500],
  strike: async ({ slot, lastsMs, bench }) => {
    await bench.admin.ask('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [slot.label]);
    await bench.wait(lastsMs);
  },
};
