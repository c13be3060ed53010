import { groupBy } from '../../../lab/src/checker/group.ts';
import type { Epoch, MemberChange } from './history.ts';

interface Stay {
  readonly instance: string;
  readonly from: number;
  until: number;
}

/**
 * The stretches between two changes of who takes part, by the database's clock. A member is one that declared `count` and
 * does not drain, from that heartbeat until its time has run out, or it declares something else.
 */
export function epochsOf(changes: readonly MemberChange[], count: number, endsAt: number): Epoch[] {
  const stays = [...groupBy(changes, ({ instance }) => instance).values()].flatMap((own) => staysOf(own, count));
  const edges = new Set([...stays.flatMap(({ from, until }) => [from, until]), endsAt]);
  const times = [...edges].filter((time) => time <= endsAt).sort((a, b) => a - b);
  return times.slice(0, -1).map((from, index) => ({
    from,
    to: times[index + 1] as number,
    members: stays.filter((stay) => stay.from <= from && from < stay.until).map(({ instance }) => instance),
  }));
}

/** An instance that is told to stop is no member from then on, whatever its row still says. */
export function withStops(changes: readonly MemberChange[], stops: ReadonlyMap<string, number>): MemberChange[] {
  const told = [...stops].map(([instance, at]) => ({ instance, at, until: at, roles: null, draining: true }));
  return [...changes.filter(({ instance, at }) => at < (stops.get(instance) ?? Number.POSITIVE_INFINITY)), ...told];
}

function staysOf(changes: readonly MemberChange[], count: number): Stay[] {
  const stays: Stay[] = [];
  for (const { instance, at, until, roles, draining } of changes) {
    const last = stays.at(-1);
    const isOpen = last !== undefined && at <= last.until;
    if (roles !== count || draining) {
      if (isOpen) last.until = Math.min(last.until, at);
    } else if (isOpen) last.until = Math.max(last.until, until);
    else stays.push({ instance, from: at, until });
  }
  return stays;
}
