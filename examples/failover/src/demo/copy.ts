import { isLeaseholdError, type Term } from '@leasehold/core';
import { withFence } from '@leasehold/core/postgres';
import pg from 'pg';
import './tell-terms.ts';
import { app } from '../server.ts';
import { type CopyState, type FromCopy, labelOf, type LateWrite, type ToCopy } from './messages.ts';

/** One copy of the application as the demo runs it: the server, with a line to the demo. */
const STATE_INTERVAL_MS = 50;
const lease = app.roleLeases.get('maintenance');
let writeLate: () => void = () => {};

function tell(message: FromCopy): void {
  if (process.connected) process.send?.(message);
}

function stateNow(): CopyState {
  const { isHeld, currentHolder, currentHolderAddress, fencingToken, holderRemainingMs } = lease;
  return {
    isHeld,
    holder: currentHolder === null ? null : labelOf(currentHolder),
    holderAddress: currentHolderAddress,
    token: fencingToken === null ? null : Number(fencingToken),
    remainingMs: holderRemainingMs,
  };
}

/** Work that begins under a term and comes to its write when it is told to: after a freeze, for instance. */
async function workThatIsLate(term: Term): Promise<LateWrite> {
  const told = new Promise<void>((resolve) => (writeLate = resolve));
  tell({ kind: 'term-taken' });
  await told;
  const { isHeld } = lease;
  const isAborted = term.signal.aborted;
  return { isHeld, isAborted, outcome: await tryToWrite(term) };
}

async function tryToWrite(term: Term): Promise<string> {
  const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 1 });
  const insert = "insert into maintenance_run (instance, fencing_token) values ('late', $1)";
  try {
    await withFence(pool, term, (client) => client.query(insert, [term.fencingToken]));
    return 'written';
  } catch (error) {
    return isLeaseholdError(error) ? error.code : String(error);
  } finally {
    await pool.end();
  }
}

async function obey(message: ToCopy): Promise<void> {
  if (message === 'write-late') {
    writeLate();
    return;
  }
  const work = await lease.whileHeld(workThatIsLate);
  if (work.ran) tell({ kind: 'late-write', result: work.value });
}

process.on('message', (message: ToCopy) => void obey(message));
process.on('disconnect', () => process.exit());
// The line alone keeps no copy alive whose server is closed.
process.channel?.unref();
setInterval(() => tell({ kind: 'state', state: stateNow() }), STATE_INTERVAL_MS).unref();
tell({ kind: 'listening', origin: app.listeningOrigin });
