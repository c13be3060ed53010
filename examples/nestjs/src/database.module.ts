import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { COPY, DATABASE_URL } from './settings.ts';

export const POOL = 'POOL';

function createPool(): pg.Pool {
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 5 });
  pool.on('error', (error) => console.error('an idle connection to PostgreSQL broke:', error.message));
  return pool;
}

@Module({ providers: [{ provide: POOL, useFactory: createPool }], exports: [POOL] })
export class DatabaseModule implements OnApplicationShutdown {
  readonly #pool: pg.Pool;

  constructor(@Inject(POOL) pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Not in `onModuleDestroy`: the last run of the job needs the pool until then. */
  async onApplicationShutdown(): Promise<void> {
    await this.#pool.end();
    console.log(`${COPY} has ended`);
  }
}
