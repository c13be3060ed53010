import type { Leasehold } from '@leasehold/core';
import { nowUs } from '../monotonic.ts';
import type { Command } from './commands.ts';
import type { FaultyClock } from './faulty-clock.ts';
import type { Observer } from './observer.ts';
import type { Writer } from './writer.ts';

export interface Obedient {
  readonly leasehold: Leasehold;
  readonly clock: FaultyClock;
  readonly observer: Observer;
  readonly writer: Writer;
}

/** Does to this process what the lab tells it. */
export async function obey(command: Command, worker: Obedient): Promise<void> {
  switch (command.do) {
    case 'blockLoop':
      blockLoop(command.ms, worker.observer);
      return;
    case 'exhaustPool':
      await worker.writer.exhaust(command.ms);
      return;
    case 'jumpWall':
      worker.clock.jumpWall(command.ms);
      return;
    case 'stepDown':
      await stepDown(worker.leasehold, command.roles, command.standAsideMs);
      return;
    case 'standAside':
      await worker.leasehold.standAside({ for: command.ms });
  }
}

const LOOK_EVERY_MS = 10;

/**
 * Keeps the event loop from turning, and goes on looking at `isHeld` meanwhile, as a long computation would. It sleeps
 * between two looks: the fault is the blocked loop, not a busy processor, which other processes need.
 */
function blockLoop(ms: number, observer: Observer): void {
  const until = nowUs() + ms * 1_000;
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (nowUs() < until) {
    observer.look();
    Atomics.wait(never, 0, 0, LOOK_EVERY_MS);
  }
  // Once more before any timer runs: what a frozen process sees first when it wakes up.
  observer.look();
}

function stepDown(leasehold: Leasehold, roles: readonly string[], standAsideMs: number): Promise<unknown> {
  return Promise.all(roles.map((role) => leasehold.get(role).stepDown({ standAside: standAsideMs })));
}
