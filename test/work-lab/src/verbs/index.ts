import type { StruckFault } from '../../../lab/src/checker/history.ts';
import { blockLoop } from '../../../lab/src/verbs/block-loop.ts';
import { cutDatabase } from '../../../lab/src/verbs/cut-database.ts';
import { freezeDatabase } from '../../../lab/src/verbs/freeze-database.ts';
import { freeze } from '../../../lab/src/verbs/freeze.ts';
import { hangDatabase } from '../../../lab/src/verbs/hang-database.ts';
import { kill } from '../../../lab/src/verbs/kill.ts';
import { lockTableOf } from '../../../lab/src/verbs/lock-table.ts';
import { loseReplies } from '../../../lab/src/verbs/lose-replies.ts';
import { crashDatabase, restartDatabase } from '../../../lab/src/verbs/restart-database.ts';
import { slowDatabase } from '../../../lab/src/verbs/slow-database.ts';
import { stop } from '../../../lab/src/verbs/stop.ts';
import { terminateBackends } from '../../../lab/src/verbs/terminate-backends.ts';
import type { Verb } from '../../../lab/src/verbs/verb.ts';
import { LEASE_MS } from '../table.ts';
import { lockRows } from './lock-rows.ts';
import { removeRows } from './remove-rows.ts';

/** Some end before the lease does, and most after it. */
const FREEZE_MS = [LEASE_MS / 2, 2.5 * LEASE_MS] as const;

/** Everything that the lab does to workers, rows and the database. The order is part of what a seed means. */
export function workVerbs(locked: StruckFault[]): readonly Verb[] {
  return [
    kill,
    { ...freeze, lasts: FREEZE_MS },
    stop,
    blockLoop,
    cutDatabase,
    hangDatabase,
    loseReplies,
    slowDatabase,
    terminateBackends,
    restartDatabase,
    crashDatabase,
    freezeDatabase,
    lockTableOf('public.delivery'),
    lockRows(locked),
    removeRows,
  ];
}
