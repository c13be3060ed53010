/** What one request came to, as its client saw it. Times are readings of `nowUs`. */
export interface Outcome {
  readonly id: string;
  /** The instance that it was sent to. */
  readonly entry: string;
  /**
   * - `whole`: an answer that looked complete.
   * - `broken`: the head of an answer, and then a break that the client noticed.
   * - `failed`: no answer, and no connection any more.
   * - `left`: the client went away, as it had planned.
   * - `hanging`: given up at long last.
   */
  readonly kind: 'whole' | 'broken' | 'failed' | 'left' | 'hanging';
  readonly startedAt: number;
  /** When the last byte of the request was sent: from then on it is the other side's turn. */
  readonly sentAt: number | null;
  readonly headAt: number | null;
  readonly endedAt: number;
  /** How long the answer takes by its own plan. */
  readonly plannedMs: number;
  readonly status: number | null;
  /** The instance that executed it, by its own word. */
  readonly by: string | null;
  readonly retryAfter: string | null;
  /** Of a refusal. */
  readonly reason: string | null;
  /** Whether the body was all that it had to be. */
  readonly isWhole: boolean;
  /** Only the end of a connection tells the end of this answer, so that the orderly end of a killed process is one. */
  readonly endsWithConnection: boolean;
  /** The holder said what reached it of the body: all of it, unspoilt; null when it did not say. */
  readonly uploadIsWhole: boolean | null;
  readonly error: string | null;
}
