import type { PostgresServer } from '@leasehold/testing';
import type { Figure } from '../../../test/support/figures.ts';
import { CONTESTANTS } from './contestants.ts';
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
  for (const contestant of CONTESTANTS) {
    await field.enter(contestant, await server.createDatabase(contestant.name.toLowerCase()));
  }
  const before = await lastCheckpoint(server.connectionString);
  const slots = await field.measure(effort);
  const after = await lastCheckpoint(server.connectionString);
  return {
    figures: [...ratioFigures(slots), ...costFigures(slots), ...absoluteFigures(slots)],
    failures: before === after ? [] : [`a checkpoint came between: WAL bytes are with whole pages (${before}, ${after})`],
  };
}
