import type { Leasehold } from '@leasehold/core';
import { blockLoop } from './block-loop.ts';
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
      blockLoop(command.ms, () => worker.observer.look());
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

function stepDown(leasehold: Leasehold, roles: readonly string[], standAsideMs: number): Promise<unknown> {
  return Promise.all(roles.map((role) => leasehold.get(role).stepDown({ standAside: standAsideMs })));
}
