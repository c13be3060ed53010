export interface SettleRequest {
  readonly token: string;
  /** It may have been run before, without an answer. */
  readonly isRepeated: boolean;
  /** Null within a transaction of the caller's, whose settings are its own. */
  readonly lockTimeoutMs: number | null;
}
