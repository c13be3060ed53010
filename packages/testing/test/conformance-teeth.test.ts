import type { HeartbeatReply, HeartbeatRequest, LeaseStore, Member, RoleReport, StoreContext } from '@leasehold/core';
import { MemoryDatabase, memoryStore, type MemoryTransaction } from '@leasehold/core/memory';
import { expect, test } from 'vitest';
import { type ConformanceCase, leaseStoreConformance, manualClock } from '../src/index.ts';

type Breakage = (store: LeaseStore, database: MemoryDatabase) => Partial<LeaseStore>;

const call = { timeoutMs: 1_000, signal: new AbortController().signal };

async function look(store: LeaseStore, request: HeartbeatRequest, roles: readonly string[]): Promise<readonly RoleReport[]> {
  return (await store.heartbeat({ ...request, renew: [], acquire: [], observe: roles }, call)).roles;
}

function changeReplies(store: LeaseStore, change: (report: RoleReport) => RoleReport): Partial<LeaseStore> {
  return {
    heartbeat: async (request, limits): Promise<HeartbeatReply> => {
      const reply = await store.heartbeat(request, limits);
      return { ...reply, roles: reply.roles.map(change) };
    },
  };
}

function changeMembers(store: LeaseStore, change: (members: readonly Member[]) => Member[]): Partial<LeaseStore> {
  return {
    heartbeat: async (request, limits) => {
      const { members, ...reply } = await store.heartbeat(request, limits);
      return members === undefined ? reply : { ...reply, members: change(members) };
    },
  };
}

function changeRoles(store: LeaseStore, change: (role: string) => string): Partial<LeaseStore> {
  const changed = <Asked extends { readonly role: string }>(asked: readonly Asked[]): Asked[] =>
    asked.map((one) => ({ ...one, role: change(one.role) }));
  return {
    heartbeat: async (request, limits) => {
      const { renew, acquire, observe } = request;
      const sent = { ...request, renew: changed(renew), acquire: changed(acquire), observe: observe.map(change) };
      const { roles, ...reply } = await store.heartbeat(sent, limits);
      const asked = [...renew, ...acquire].map(({ role }) => role).concat(observe);
      return { ...reply, roles: roles.map((report, index) => ({ ...report, role: asked[index] ?? report.role })) };
    },
  };
}

/** Mistakes that real stores were found to make. */
const breakages: Readonly<Record<string, Breakage>> = {
  'renews by role and holder alone': (store) => ({
    heartbeat: async (request, limits) => {
      const seen = await look(
        store,
        request,
        request.renew.map(({ role }) => role),
      );
      const renew = seen.map(({ role, fencingToken }) => ({ role, fencingToken }));
      return store.heartbeat({ ...request, renew }, limits);
    },
  }),
  'takes back what has run out when asked to renew': (store) => ({
    heartbeat: async (request, limits) => {
      const { roles, ...reply } = await store.heartbeat(request, limits);
      const again = roles.filter(
        ({ role, outcome }) => outcome === 'vacant' && request.renew.some((asked) => asked.role === role),
      );
      const acquire = again.map(({ role }) => ({ role, leaseMs: 60_000, tokenFloor: 0n }));
      const taken = (await store.heartbeat({ ...request, renew: [], acquire, observe: [] }, limits)).roles;
      return { ...reply, roles: roles.map((report) => taken.find(({ role }) => role === report.role) ?? report) };
    },
  }),
  'forgets the floor': (store) => ({
    heartbeat: (request, limits) =>
      store.heartbeat({ ...request, acquire: request.acquire.map((asked) => ({ ...asked, tokenFloor: 0n })) }, limits),
  }),
  'deletes the row on release': (store, database) => ({
    release: async (request, limits) => {
      const reply = await store.release(request, limits);
      for (const [role, outcome] of reply.roles) if (outcome === 'released') database.deleteRow(role);
      return reply;
    },
  }),
  'says released whatever happened': (store) => ({
    release: async (request, limits) => {
      const { roles } = await store.release(request, limits);
      return { roles: new Map([...roles.keys()].map((role) => [role, 'released'])) };
    },
  }),
  'loses precision in tokens': (store) =>
    changeReplies(store, (report) => ({ ...report, fencingToken: BigInt(Number(report.fencingToken)) })),
  'compares names without case': (store) => changeRoles(store, (role) => role.toLowerCase()),
  'trims names': (store) => changeRoles(store, (role) => role.trim()),
  'cuts names': (store) => changeRoles(store, (role) => [...role].slice(0, 63).join('')),
  'leaves out what it does not know': (store) => ({
    heartbeat: async (request, limits) => {
      const reply = await store.heartbeat(request, limits);
      return { ...reply, roles: reply.roles.filter(({ outcome }) => outcome !== 'missing') };
    },
  }),
  'hides addresses': (store) => changeReplies(store, (report) => ({ ...report, holderAddress: null })),
  'wakes nobody': (store) => ({ open: (context, limits) => store.open({ ...context, wakeUp: () => {} }, limits) }),
  'wakes its sender': (store) => {
    let opened: StoreContext | null = null;
    return {
      open: (context, limits) => store.open((opened = context), limits),
      release: async (request, limits) => {
        const reply = await store.release(request, limits);
        opened?.wakeUp(request.roles.map(({ role }) => role));
        return reply;
      },
    };
  },
  'lets anybody take the roles of partitions': (store) => ({
    heartbeat: (request, limits) =>
      store.heartbeat({ ...request, acquire: request.acquire.map((asked) => ({ ...asked, onlyAsMember: false })) }, limits),
  }),
  'lets whoever declares take the roles of partitions at once': (store) => ({
    heartbeat: async (request, limits) => {
      if (request.membership !== undefined) await store.heartbeat({ ...request, renew: [], acquire: [], observe: [] }, limits);
      return store.heartbeat(request, limits);
    },
  }),
  'tells of the members as they are after the heartbeat': (store) => ({
    heartbeat: async (request, limits) => {
      const reply = await store.heartbeat(request, limits);
      if (request.membership === undefined) return reply;
      const { members } = await store.heartbeat({ ...request, renew: [], acquire: [], observe: [] }, limits);
      return { ...reply, ...(members === undefined ? {} : { members }) };
    },
  }),
  'takes heartbeats in the order in which they arrive': (store) => {
    let sequence = 0;
    return {
      heartbeat: ({ membership, ...request }, limits) => {
        sequence += 1;
        return store.heartbeat(
          membership === undefined ? request : { ...request, membership: { ...membership, sequence } },
          limits,
        );
      },
    };
  },
  'tells of no members': (store) => ({
    heartbeat: async (request, limits) => ({ roles: (await store.heartbeat(request, limits)).roles }),
  }),
  'forgets members as soon as their time has run out': (store) =>
    changeMembers(store, (members) => members.filter(({ live }) => live)),
  'takes every member for live': (store) =>
    changeMembers(store, (members) => members.map((member) => ({ ...member, live: true }))),
  'keeps the counts alone': (store) =>
    changeMembers(store, (members) => members.map((member) => ({ ...member, weight: 1, excluded: {}, draining: false }))),
  'keeps members that leave': (store) => ({
    release: (request, limits) => store.release({ ...request, leaving: false }, limits),
  }),
  'fences nothing': () => ({ fence: async () => {} }),
  'checks the term and does not hold it': (store, database) => ({
    fence: (_client, term) => database.transaction((own: MemoryTransaction) => store.fence(own, term)),
  }),
  'fences for ever': (store, database) => ({
    fence: async (client, term) => {
      await store.fence(client, term);
      void database.transaction(async (own) => {
        await store.fence(own, term);
        await new Promise(() => {});
      });
    },
  }),
  'cannot be closed twice': (store) => {
    let closed = false;
    return {
      close: async () => {
        if (closed) throw new Error('closed before');
        closed = true;
        await store.close();
      },
    };
  },
  'never settles a call that was given up': (store) => ({
    heartbeat: (request, limits) =>
      limits.signal.aborted ? new Promise<HeartbeatReply>(() => {}) : store.heartbeat(request, limits),
  }),
};

/** The cases, each on rows and a clock of its own, so that they can run at once. */
function casesOf(broken: Breakage): readonly ConformanceCase[] {
  const clock = manualClock();
  const database = new MemoryDatabase({ clock });
  const createStore = (): LeaseStore => {
    const store = memoryStore({ database });
    return { ...store, ...broken(store, database) };
  };
  return leaseStoreConformance({
    createStore,
    transaction: (work) => database.transaction(work),
    advance: (ms) => clock.advance(ms),
    patienceMs: 200,
    deleteRow: async (role) => database.deleteRow(role),
    changeLease: async (role, leaseMs) => database.changeLease(role, leaseMs),
  });
}

/** Names of the cases that fail. */
async function failures(broken: Breakage): Promise<string[]> {
  const failed: string[] = [];
  const runCase = async (index: number): Promise<void> => {
    const one = casesOf(broken)[index];
    await one?.run().catch(() => failed.push(one.name));
  };
  await Promise.all(casesOf(broken).map((_, index) => runCase(index)));
  return failed;
}

test('a store that is whole fails no case', async () => {
  expect(await failures(() => ({}))).toEqual([]);
});

for (const [what, broken] of Object.entries(breakages)) {
  test(`the suite notices a store that ${what}`, async () => {
    expect(await failures(broken)).not.toEqual([]);
  });
}
