import type { RoleLease, Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import { currentTerm, InjectRoleLease, WhileHeld } from '@leasehold/nestjs';
import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type pg from 'pg';
import { finalize, fromEvent, Observable, Subject, takeUntil } from 'rxjs';
import { POOL } from './database.module.ts';
import { COPY } from './settings.ts';

export interface Run {
  readonly by: string;
  readonly token: string;
  readonly note: string;
}

const INSERT = 'insert into maintenance_run (instance, fencing_token, note) values ($1, $2, $3)';

/** The job: writes down that it ran, and tells whoever listens. */
@Injectable()
export class Maintenance {
  readonly #pool: pg.Pool;
  readonly #lease: RoleLease;
  readonly #runs = new Subject<Run>();
  last: Run | null = null;

  constructor(@Inject(POOL) pool: pg.Pool, @InjectRoleLease('maintenance') lease: RoleLease) {
    this.#pool = pool;
    this.#lease = lease;
  }

  /** On the holder alone. */
  @Interval(1_000)
  @WhileHeld('maintenance')
  async runByTheClock(): Promise<void> {
    await this.run('by the clock');
  }

  /** Undefined where the role is not held. The fence keeps a holder that was frozen meanwhile from writing. */
  @WhileHeld('maintenance')
  async run(note: string): Promise<Run | undefined> {
    const term = currentTerm();
    if (term === null) return undefined;
    const values = [COPY, term.fencingToken, note];
    await withFence(this.#pool, term, (client) => client.query(INSERT, values), { stallTimeout: '1s' });
    const run: Run = { by: COPY, token: String(term.fencingToken), note };
    this.last = run;
    this.#runs.next(run);
    return run;
  }

  /** Who holds, and each run as it happens. It ends with the term, and the page comes back to the next holder. */
  events(): Observable<MessageEvent> {
    return new Observable((subscriber) => {
      const stream = async (term: Term): Promise<void> => {
        subscriber.next({ type: 'holder', data: { by: COPY, token: String(term.fencingToken) }, retry: 300 });
        // Until the client has left or the term is over.
        const runs = this.#runs.pipe(takeUntil(fromEvent(term.signal, 'abort')));
        await new Promise<void>((resolve) => {
          const show = (run: Run): void => subscriber.next({ type: 'run', data: run });
          subscriber.add(runs.pipe(finalize(resolve)).subscribe(show));
        });
      };
      void this.#lease.whileHeld(stream).then(() => subscriber.complete());
    });
  }
}
