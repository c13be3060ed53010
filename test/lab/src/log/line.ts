/** A role by its number and the token under which it was seen held. */
export type HeldRole = readonly [role: number, token: number];

/**
 * What a worker writes, one JSON object per line; every time is a reading of `nowUs`. Keys are short because a long run
 * writes hundreds of thousands of lines.
 */
export type Line =
  | { readonly k: 'start'; readonly at: number; readonly instance: string }
  /** A look at all roles: those named were held at some instant from `from` to `to`, the others were not. */
  | { readonly k: 'look'; readonly from: number; readonly to: number; readonly held: readonly HeldRole[] }
  /** The same for one role, from within its work. */
  | { readonly k: 'claim'; readonly from: number; readonly to: number; readonly held: readonly [HeldRole] }
  | { readonly k: 'gain'; readonly at: number; readonly role: string; readonly token: number }
  | { readonly k: 'loss'; readonly at: number; readonly role: string; readonly token: number; readonly reason: string }
  /** A fenced write was refused with `LEASEHOLD_FENCED`; `late` when that was the point of trying it. */
  | { readonly k: 'refused'; readonly at: number; readonly role: string; readonly token: number; readonly late: boolean }
  /** Something that must never happen happened inside the process. */
  | { readonly k: 'wrong'; readonly at: number; readonly what: string }
  /** The process ends because it was told to. */
  | { readonly k: 'end'; readonly at: number };

export function roleName(index: number): string {
  return `role-${String(index + 1).padStart(3, '0')}`;
}
