// What a simulation needs of a storage. Below it lies whatever the storage is made of; above it the package's services.

import type { BaseSessionService, SessionServiceOptions } from '../../../js/index.js';
import type { Rules } from '../model/apply.js';
import type { SessionName } from '../operation.js';
import type { Faults } from './faults.js';
import type { Pace } from './pace.js';
import type { Random } from './random.js';

/** How a storage is reached, and what may go wrong on the way. */
export interface Boundary {
  readonly name: string;
  readonly rules: Rules;
  /** Where a request that ended in the open may still happen after the client was told. */
  readonly landsLate?: boolean;
  /** Operations that it does not offer, or that cannot be exact there. */
  readonly without?: readonly string[];
  /** Whether it has no transactions: one client at a time calls it, and waits for each answer. */
  readonly isSequential?: boolean;
  start(seed: number): Promise<Simulated> | Simulated;
}

/** The storage of one seed. */
export interface Simulated {
  readonly pace: Pace;
  readonly faults: Faults;
  /** @param options what a service takes, clock and ids of the seed among it */
  openClient(number: number, options: SessionServiceOptions): Promise<Client> | Client;
  /** A service that no fault reaches. */
  openObserver(): Promise<BaseSessionService> | BaseSessionService;
  /** The sessions that clients use, where they cannot be the usual ones. */
  readonly names?: readonly SessionName[];
  /** What the storage itself has seen that must not be. */
  readonly complaints?: readonly string[];
  /** The simulation hears here that a fault ends a client. */
  onCrash?: (client: number) => void;
  /** What went wrong, in order, for the report. */
  readonly notes: string[];
  end(): Promise<void> | void;
}

/** A program, or a tab, that uses the storage. */
export interface Client {
  readonly service: BaseSessionService;
  /** Ends it at once: none of its promises needs to settle. */
  crash(): void;
}

/** How much of an error its caller knows. */
export type Knowledge = 'nothing was written' | 'it may have been written';

/** The knowledge that an error's code promises; `undefined`: no fault of a storage gives it. */
export function knowledgeOf(code: string): Knowledge | undefined {
  switch (code) {
    case 'connection_lost':
    case 'remote':
      return 'it may have been written';
    case 'storage_failed':
    case 'quota_exceeded':
    case 'storage_blocked':
    case 'storage_unavailable':
      return 'nothing was written';
    default:
      return undefined;
  }
}

export type { Faults, Pace, Random };
