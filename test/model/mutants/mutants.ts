/** One way to break core, as a replacement of text that occurs exactly once in the file. */
export interface Mutant {
  readonly what: string;
  /** Below `packages/core/src`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Mistakes about time: the rules 1 to 5. */
const timing: readonly Mutant[] = [
  {
    what: 'belief counts from the reply, not from the sending',
    file: 'lease/heartbeat-turn.ts',
    find: 'return { sentAt, answers, members: reply.members };',
    replace: 'return { sentAt: { monotonic: clock.monotonic(), wall: clock.wall() }, answers, members: reply.members };',
  },
  {
    what: 'a late reply revives a term that has lapsed unnoticed',
    file: 'lease/term.ts',
    find: 'if (!this.isHeld) return false;',
    replace: '',
  },
  {
    what: 'an acquisition is believed though its window has passed',
    file: 'lease/current-term.ts',
    find: 'if (!proves) return;',
    replace: '',
  },
  {
    what: 'the safety margin is left out',
    file: 'lease/lease-options.ts',
    find: 'marginMs, windowMs: leaseMs - marginMs',
    replace: 'marginMs: 0, windowMs: leaseMs',
  },
  {
    what: 'a row that is kept for less is believed for as long as ever',
    file: 'lease/managed-lease.ts',
    find: 'windowMs: Math.min(windowMs, remainingMs - marginMs)',
    replace: 'windowMs: Math.min(windowMs, remainingMs - marginMs + windowMs)',
  },
  {
    what: 'a heartbeat that fails prolongs belief',
    file: 'lease/managed-lease.ts',
    find: 'this.#term.notRenewed();\n  }\n\n  /** Takes in',
    replace: `const { clock } = this.#host;
    const sentAt = { monotonic: clock.monotonic(), wall: clock.wall() };
    this.#term.renewed(this.fencingToken ?? 0n, { sentAt, windowMs: this.timing.windowMs });
  }

  /** Takes in`,
  },
  {
    what: 'one failed heartbeat ends a term',
    file: 'lease/managed-lease.ts',
    find: 'this.#term.notRenewed();\n  }\n\n  /** Takes in',
    replace: "this.#term.lost(this.fencingToken ?? 0n, 'a heartbeat failed');\n  }\n\n  /** Takes in",
  },
  {
    what: 'the wall clock raises no alarm',
    file: 'lease/term.ts',
    find: 'if (this.#clock.monotonic() < this.#heldUntil && this.#clock.wall() < this.#wallUntil) return true;',
    replace: 'if (this.#clock.monotonic() < this.#heldUntil) return true;',
  },
  {
    what: 'the wall clock alone decides',
    file: 'lease/term.ts',
    find: 'if (this.#clock.monotonic() < this.#heldUntil && this.#clock.wall() < this.#wallUntil) return true;',
    replace: 'if (this.#clock.wall() < this.#wallUntil) return true;',
  },
  {
    what: 'no timer ends a term at its deadline',
    file: 'lease/deadline-watch.ts',
    find: 'this.#timer = this.#clock.setTimer(() => this.arm(), Math.ceil(next - this.#clock.monotonic()));',
    replace: '',
  },
  {
    what: 'a call that hangs is waited for',
    file: 'store/call-store.ts',
    find: 'const timer = clock.setTimer(() => giveUp(timeout(what, timeoutMs)), timeoutMs);',
    replace: 'const timer = { cancel: () => void timeout(what, timeoutMs) };',
  },
];

/** Mistakes in the life of a term: the rules 6 to 10. */
const life: readonly Mutant[] = [
  {
    what: 'a loss that the store tells of is swallowed',
    file: 'lease/managed-lease.ts',
    find: 'else this.#term.lost(token, describeLoss(report));',
    replace: '',
  },
  {
    what: 'the signal does not look at the clock when it is read',
    file: 'lease/term-signal.ts',
    find: '): unknown {\n  signal[END_IF_LAPSED]();',
    replace: '): unknown {',
  },
  {
    what: 'the signal aborts before the state has changed',
    file: 'lease/term.ts',
    find: '    this.#heldUntil = Number.NEGATIVE_INFINITY;\n    this.#wallUntil = Number.NEGATIVE_INFINITY;\n    this.#controller.abort(reason);',
    replace:
      '    this.#controller.abort(reason);\n    this.#heldUntil = Number.NEGATIVE_INFINITY;\n    this.#wallUntil = Number.NEGATIVE_INFINITY;',
  },
  {
    what: 'a loss is announced twice',
    file: 'lease/current-term.ts',
    find: 'announceLost(this.#options.host.logger, term, loss);',
    replace: 'for (let n = 0; n < 2; n += 1) announceLost(this.#options.host.logger, term, loss);',
  },
  {
    what: 'a term that ended by itself is not announced',
    file: 'lease/current-term.ts',
    find: 'if (term.end(',
    replace: "if (loss.code !== 'LEASEHOLD_TERM_EXPIRED' && term.end(",
  },
  {
    what: 'an acquisition that arrives after stop or step-down is believed',
    file: 'lease/managed-lease.ts',
    find: "if (report.outcome !== 'acquired' || this.#candidacy.isStopped) return null;\n    if (!this.#candidacy.competes) return report.fencingToken;",
    replace: "if (report.outcome !== 'acquired') return null;",
  },
  {
    what: 'stop does not end the terms',
    file: 'lease/managed-lease.ts',
    find: "this.#term.leave({ code: 'LEASEHOLD_TERM_STOPPED', why: 'this instance is stopping' });",
    replace: '',
  },
  {
    what: 'step-down gives back by name, whatever term that may be by then',
    file: 'lease/give-back.ts',
    find: 'await this.#releaser.release(roles, { leaving: false });',
    replace: 'await this.#releaser.release(roles.map(({ role }) => ({ role, fencingToken: null })), { leaving: false });',
  },
  {
    what: 'stop gives back only what it knows to hold',
    file: 'lease/give-back.ts',
    find: 'const roles = results.flatMap(({ unsure }) => unsure.map(byName));',
    replace: 'const roles: Releasable[] = []; void results; void byName;',
  },
  {
    what: 'tokens that were seen are forgotten',
    file: 'lease/managed-lease.ts',
    find: 'if (report.fencingToken > this.#highestToken) this.#highestToken = report.fencingToken;',
    replace: '',
  },
  {
    what: 'a candidate gives up after an error',
    file: 'lease/heartbeat.ts',
    find: 'this.#countFailure(error);',
    replace: 'this.#countFailure(error);\n      if (error !== undefined) return;',
  },
  {
    what: 'standing aside never ends',
    file: 'lease/candidacy.ts',
    find: '  compete(): void {\n    this.#standAsideUntil = Number.NEGATIVE_INFINITY;',
    replace: '  compete(): void {',
  },
  {
    what: 'a role that was lost is not competed for again',
    file: 'lease/managed-lease.ts',
    find: "if (!competes || this.#restraint === 'observer') return",
    replace: "if (!competes || this.#restraint === 'observer' || this.#highestToken > 3n) return",
  },
  {
    what: 'a wake-up sends a heartbeat beside the one in flight',
    file: 'lease/heartbeat.ts',
    find: "  wakeUp(roles: readonly string[] | 'all'): void {",
    replace: "  wakeUp(roles: readonly string[] | 'all'): void {\n    void this.#attempt();",
  },
  {
    what: 'a wake-up is not heeded',
    file: 'lease/heartbeat.ts',
    find: "  wakeUp(roles: readonly string[] | 'all'): void {",
    replace: "  wakeUp(roles: readonly string[] | 'all'): void {\n    if (this.#failures < 1_000) return;",
  },
  {
    what: 'work that runs on at step-down is not waited for',
    file: 'lease/departure.ts',
    find: 'const drained = await work.drained(host.clock, host.drainTimeoutMs);',
    replace: 'const drained = await work.drained(host.clock, 0).then(() => true);',
  },
];

/** Mistakes in a store. */
const store: readonly Mutant[] = [
  {
    what: 'renewal matches the role alone',
    file: 'store/memory-database.ts',
    find: 'if (!live || !this.#isTermOf(row, term)) return',
    replace: 'if (!live) return',
  },
  {
    what: 'renewal matches role and holder, and not the token',
    file: 'store/memory-database.ts',
    find: 'if (!live || !this.#isTermOf(row, term)) return',
    replace: 'if (!live || row.holder !== term.holder) return',
  },
  {
    what: 'renewal takes back what has run out',
    file: 'store/memory-database.ts',
    find: 'if (!live || !this.#isTermOf(row, term)) return',
    replace: 'if (!this.#isTermOf(row, term)) return',
  },
  {
    what: 'renewal moves an expiry back',
    file: 'store/memory-database.ts',
    find: 'row.expiresAt = Math.max(row.expiresAt, this.#clock.monotonic() + row.leaseMs);',
    replace: 'row.expiresAt = this.#clock.monotonic() + row.leaseMs;',
  },
  {
    what: 'an acquisition does not raise the token',
    file: 'store/memory-database.ts',
    find: 'row.fencingToken = (row.fencingToken > tokenFloor ? row.fencingToken : tokenFloor) + 1n;',
    replace: 'row.fencingToken = row.fencingToken > 0n ? row.fencingToken : 1n;',
  },
  {
    what: 'an acquisition of the own row does not raise the token',
    file: 'store/memory-database.ts',
    find: 'row.fencingToken = (row.fencingToken > tokenFloor ? row.fencingToken : tokenFloor) + 1n;',
    replace: 'if (row.address !== instance.address || row.leaseMs === 0 || !this.#isLive(role)) row.fencingToken += 1n;',
  },
  {
    what: 'the floor is ignored',
    file: 'store/memory-database.ts',
    find: '(row.fencingToken > tokenFloor ? row.fencingToken : tokenFloor) + 1n',
    replace: 'row.fencingToken + 1n',
  },
  {
    what: 'a takeover passes an open fence',
    file: 'store/memory-database.ts',
    find: "if (row.fencedBy.size > 0) return this.#report(role, 'busy');",
    replace: '',
  },
  {
    what: 'a stale fence passes',
    file: 'store/memory-database.ts',
    find: '!this.#isTermOf(row, term) || !this.#isLive(term.role)',
    replace: '!this.#isLive(term.role)',
  },
  {
    what: 'a fence of a term that has run out passes',
    file: 'store/memory-database.ts',
    find: '!this.#isTermOf(row, term) || !this.#isLive(term.role)',
    replace: '!this.#isTermOf(row, term)',
  },
  {
    what: 'a release takes the term of another with it',
    file: 'store/memory-database.ts',
    find: "if (fencingToken !== null && row.fencingToken !== fencingToken) return 'not-held';",
    replace: '',
  },
  {
    what: 'a release deletes the row, and the token with it',
    file: 'store/memory-database.ts',
    find: "    row.expiresAt = Number.NEGATIVE_INFINITY;\n    return 'released';",
    replace: "    this.#rows.delete(role);\n    return 'released';",
  },
];

export const mutants: readonly Mutant[] = [...timing, ...life, ...store];
