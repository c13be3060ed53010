/** What a copy tells the demo. */
export type FromCopy =
  | { readonly kind: 'listening'; readonly origin: string }
  | { readonly kind: 'acquired'; readonly token: number }
  | { readonly kind: 'state'; readonly state: CopyState }
  | { readonly kind: 'term-taken' }
  | { readonly kind: 'late-write'; readonly result: LateWrite };

/** What the demo tells a copy: begin work under the current term and wait; then write, however late it is. */
export type ToCopy = 'take-term' | 'write-late';

/** How one copy sees the role. */
export interface CopyState {
  readonly isHeld: boolean;
  /** Label of the holder. */
  readonly holder: string | null;
  readonly holderAddress: string | null;
  readonly token: number | null;
  /** What is left of the lease as this copy last saw it, in milliseconds. */
  readonly remainingMs: number;
}

/** What came of a write that was begun under a term and sent after a freeze. */
export interface LateWrite {
  readonly isHeld: boolean;
  readonly isAborted: boolean;
  /** A code, or `written`. */
  readonly outcome: string;
}

/** An instance id is its label and a random suffix. */
export function labelOf(instance: string): string {
  return instance.slice(0, instance.lastIndexOf('-'));
}
