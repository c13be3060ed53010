import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalFields } from './headers/merge.ts';
import type { InFlight } from './in-flight.ts';
import type { ProblemContext } from './problem.ts';
import type { RoleChange } from './role-change.ts';
import type { Transport } from './transport.ts';
import type { UpgradingClient } from './upgrade.ts';

/** What all exchanges of one role share. */
export interface ExchangeContext extends ProblemContext {
  readonly transport: Transport;
  readonly inFlight: InFlight;
  readonly roleChange: RoleChange;
  /** `Leasehold-Hop` of every request that this instance forwards. */
  readonly hop: string;
}

export interface ClientSide {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fields that this instance sets on the answer, whoever it is from. */
  readonly local: LocalFields;
  /** The client waits for `100 Continue`, and the holder is to say it. */
  readonly awaitsContinue: boolean;
  /** The client asks for another protocol; null for all others. */
  readonly upgrade: UpgradingClient | null;
}
