import { randomUUID } from 'node:crypto';
import type { SqlClient } from '@leasehold/core/work';
import type { PostgresServer } from '@leasehold/testing';
import pg from 'pg';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { progress } from '../support/progress.ts';
import { CLAIM } from './contestants/hand-written.ts';
import { CLAIM_OPTIONS } from './contestants/leasehold.ts';
import type { Effort } from './options.ts';
import { createTable, deliveries } from './table.ts';
import { CLAIM_LIMIT, SCENES, scanOf, type Statement } from './scenes.ts';

/** Buffers that finding 50 rows takes, with many that are not due lying before them. */
export async function measureScenes(server: PostgresServer, { claimsExplained }: Effort): Promise<Figure[]> {
  const pool = new pg.Pool({ connectionString: await server.createDatabase('scenes'), max: 2 });
  // `end` answers before the server knows: its shutdown may still reach a connection.
  pool.on('error', () => {});
  await createTable(pool);
  const claims: readonly ScenesOptions[] = [
    { name: 'leasehold', claim: await claimOf(pool), target: '<= 80' },
    { name: 'handWritten', claim: { text: CLAIM, values: [CLAIM_LIMIT, randomUUID()] }, target: null },
  ];
  const figures: Figure[] = [];
  for (const claim of claims.slice(0, claimsExplained)) figures.push(...(await scenesOf(pool, claim)));
  await pool.end();
  return figures;
}

/** The very statement, as it leaves the product. */
async function claimOf(pool: pg.Pool): Promise<Statement> {
  let last: Statement | null = null;
  const recording: SqlClient = {
    query: (text, values = []) => {
      last = { text, values };
      return pool.query(text, values);
    },
  };
  await deliveries().claim(recording, { ...CLAIM_OPTIONS, limit: CLAIM_LIMIT });
  if (last === null) throw new Error('nothing was sent');
  return last;
}

interface ScenesOptions {
  readonly name: string;
  readonly claim: Statement;
  readonly target: string | null;
}

async function scenesOf(pool: pg.Pool, { name, claim, target }: ScenesOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const scene of SCENES) {
    progress(`${scene.name}: ${name}`);
    const vacuumed = await scanOf(pool, scene, { claim, heldBack: false });
    const heldBack = await scanOf(pool, scene, { claim, heldBack: true });
    figures.push(figure(`scanBuffers@${scene.name},${name}`, vacuumed.buffers, '', target));
    figures.push(figure(`scanBuffersWithHeldSnapshot@${scene.name},${name}`, heldBack.buffers, ''));
  }
  return figures;
}
