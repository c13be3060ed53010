import type { PostgresServer } from '@leasehold/testing';
import { ClockMap } from '../../../lab/src/checker/clock-map.ts';
import type { StruckFault, Violation } from '../../../lab/src/checker/history.ts';
import type { ClockSampler } from '../../../lab/src/database/clock-sampler.ts';
import { withClient } from '../../../support/with-client.ts';
import type { Lease, RowLife } from '../checker/history.ts';
import { judgeRow } from '../checker/row-life.ts';
import { eachRow, type Leftovers, leftovers } from '../database/collect.ts';
import { type Logs, readLogs } from '../database/read-logs.ts';

export interface Evidence extends Leftovers {
  readonly lives: readonly RowLife[];
  readonly leases: readonly Lease[];
  /** Of the versions of each row. */
  readonly violations: readonly Violation[];
  readonly logs: Logs;
  readonly clock: ClockMap;
  readonly faults: readonly StruckFault[];
  readonly serverLog: string;
}

export interface Sources {
  readonly databaseUrl: string;
  readonly folder: string;
  readonly sampler: ClockSampler;
  readonly server: PostgresServer;
  readonly faults: readonly StruckFault[];
}

/** All that the database and the processes know of the run. */
export async function gather({ databaseUrl, folder, sampler, server, faults }: Sources): Promise<Evidence> {
  const lives: RowLife[] = [];
  const violations: Violation[] = [];
  await withClient(databaseUrl, (client) =>
    eachRow(client, (versions) => {
      const verdict = judgeRow(versions);
      lives.push(verdict.life);
      violations.push(...verdict.violations);
    }),
  );
  return {
    ...(await withClient(databaseUrl, leftovers)),
    lives,
    leases: lives.flatMap(({ leases }) => leases),
    violations,
    logs: await readLogs(folder),
    clock: new ClockMap(await sampler.stop()),
    faults,
    serverLog: await server.log(),
  };
}
