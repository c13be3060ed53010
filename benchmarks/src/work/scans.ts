import { randomUUID } from 'node:crypto';
import type { PostgresServer } from '@leasehold/testing';
import pg from 'pg';
import { type Figure, figure } from '../../../test/support/figures.ts';
import { progress } from '../support/progress.ts';
import { CLAIM } from './contestants/hand-written.ts';
import { createTable } from './table.ts';
import { CLAIM_LIMIT, SCENES, scanOf, type Statement } from './scenes.ts';

/** Buffers that finding 50 rows takes, with many that are not due lying before them. */
export async function measureScenes(server: PostgresServer): Promise<Figure[]> {
  const pool = new pg.Pool({ connectionString: await server.createDatabase('scenes'), max: 2 });
  await createTable(pool);
  const figures = await scenesOf(pool, 'handWritten', { text: CLAIM, values: [CLAIM_LIMIT, randomUUID()] });
  await pool.end();
  return figures;
}

async function scenesOf(pool: pg.Pool, name: string, claim: Statement): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const scene of SCENES) {
    progress(`${scene.name}: ${name}`);
    const vacuumed = await scanOf(pool, scene, { claim, heldBack: false });
    const heldBack = await scanOf(pool, scene, { claim, heldBack: true });
    figures.push(figure(`scanBuffers@${scene.name},${name}`, vacuumed.buffers, ''));
    figures.push(figure(`scanBuffersWithHeldSnapshot@${scene.name},${name}`, heldBack.buffers, ''));
  }
  return figures;
}
