/** What `record.ts` writes and `draw.ts` reads. Times are milliseconds from the start of the recording. */
export interface FailoverRecording {
  readonly postgres: string;
  readonly node: string;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly marginMs: number;
  readonly lengthMs: number;
  readonly instances: readonly string[];
  readonly events: readonly RecordedEvent[];
  readonly beliefs: readonly Span[];
  readonly leases: readonly (Span & { readonly endedBy: string | null })[];
}

/** Something that was done to an instance from outside. */
export interface RecordedEvent {
  readonly at: number;
  readonly instance: string;
  readonly what: 'start' | 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';
}

/** From when to when one term was believed in (`isHeld`), or stood on the row by the clock of the database. */
export interface Span {
  readonly instance: string;
  readonly token: number;
  readonly from: number;
  readonly until: number;
}
