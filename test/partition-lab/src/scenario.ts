import type { PostgresServer } from '@leasehold/testing';
import type { Figure } from '../../support/figures.ts';
import type { PartitionLabOptions } from './options.ts';

/** What a scenario works with. */
interface Stage {
  readonly options: PartitionLabOptions;
  readonly server: PostgresServer;
  /** Ends the run early, and leaves nothing behind. */
  readonly signal: AbortSignal;
  /** Shows how it goes; the last one given counts. */
  readonly show: (line: () => string) => void;
}

interface ScenarioResult {
  readonly figures: readonly Figure[];
  /** What was wrong, one line each. */
  readonly failures: readonly string[];
}

export type Scenario = (stage: Stage) => Promise<ScenarioResult>;
