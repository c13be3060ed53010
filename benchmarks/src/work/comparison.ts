import type { PostgresServer } from '@leasehold/testing';
import type { Figure } from '../../../test/support/figures.ts';
import { type Contestant, CONTESTANTS } from './contestants.ts';
import { absoluteFigures, costFigures, ratioFigures } from './figures.ts';
import type { Effort } from './options.ts';
import { Field } from './rounds.ts';
import { lastCheckpoint } from './server.ts';

export interface Compared {
  readonly figures: Figure[];
  readonly failures: string[];
}

/** All contestants in turn, and what they did in relation to each other. */
export async function measureContestants(server: PostgresServer, effort: Effort): Promise<Compared> {
  using field = new Field();
  const databases = new Map<Contestant, string>();
  // One after the other: the template is copied by one at a time.
  for (const one of CONTESTANTS) databases.set(one, await server.createDatabase(one.name.toLowerCase()));
  await Promise.all([...databases].map(([contestant, database]) => field.enter(contestant, database)));
  const before = await lastCheckpoint(server.connectionString);
  const slots = await field.measure(effort);
  const after = await lastCheckpoint(server.connectionString);
  return {
    figures: [...ratioFigures(slots), ...costFigures(slots), ...absoluteFigures(slots)],
    failures: before === after ? [] : [`a checkpoint came between: WAL bytes are with whole pages (${before}, ${after})`],
  };
}
