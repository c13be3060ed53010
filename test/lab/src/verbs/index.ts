import { blockLoop } from './block-loop.ts';
import { cutDatabase } from './cut-database.ts';
import { exhaustPool } from './exhaust-pool.ts';
import { freezeDatabase } from './freeze-database.ts';
import { freeze } from './freeze.ts';
import { hangDatabase } from './hang-database.ts';
import { kill } from './kill.ts';
import { lockInstance, lockRow } from './lock-row.ts';
import { lockTable } from './lock-table.ts';
import { loseReplies } from './lose-replies.ts';
import { crashDatabase, restartDatabase } from './restart-database.ts';
import { skewClock } from './skew-clock.ts';
import { slowDatabase } from './slow-database.ts';
import { standAside } from './stand-aside.ts';
import { stepDown } from './step-down.ts';
import { stop } from './stop.ts';
import { terminateBackends } from './terminate-backends.ts';
import type { Verb } from './verb.ts';

/** Everything that the lab can do to an application and its database. The order is part of what a seed means. */
export const verbs: readonly Verb[] = [
  kill,
  stop,
  freeze,
  blockLoop,
  cutDatabase,
  hangDatabase,
  loseReplies,
  slowDatabase,
  exhaustPool,
  skewClock,
  terminateBackends,
  stepDown,
  standAside,
  restartDatabase,
  crashDatabase,
  freezeDatabase,
  lockRow,
  lockInstance,
  lockTable,
];
