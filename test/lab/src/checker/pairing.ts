import { groupBy } from './group.ts';
import type { TermEvent, Violation, WorkerLog } from './history.ts';

/** Each term that an instance gained it lost exactly once, before it gained the next. */
export function findUnpaired(log: WorkerLog): Violation[] {
  const byRole = groupBy(log.events, ({ role }) => role);
  return [...byRole.values()].flatMap((events) => unpairedOfRole(events, log));
}

function unpairedOfRole(events: readonly TermEvent[], { instance, ended }: WorkerLog): Violation[] {
  const violations: Violation[] = [];
  const wrong = ({ role, token }: TermEvent, why: string): void =>
    void violations.push({ check: 'gain and loss', what: `${role}: ${instance} ${why} token ${token}` });
  let open: TermEvent | null = null;
  for (const event of events) {
    if (event.kind === 'gain') {
      if (open !== null) wrong(open, 'never announced the loss of');
      open = event;
    } else {
      if (open?.token !== event.token) wrong(event, 'announced a loss too many of');
      open = null;
    }
  }
  if (open !== null && ended) wrong(open, 'ended without announcing the loss of');
  return violations;
}

/** Nobody was told that it holds a term whose gain was not announced. */
export function findUnannounced({ beliefs, events, instance }: WorkerLog): Violation[] {
  const gained = new Set(events.filter(({ kind }) => kind === 'gain').map(({ role, token }) => `${role} ${token}`));
  return beliefs
    .filter(({ role, token }) => !gained.has(`${role} ${token}`))
    .map(({ role, token }) => ({
      check: 'gain and loss',
      what: `${role}: ${instance} held token ${token} without announcing it`,
    }));
}
