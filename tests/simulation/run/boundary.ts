// The interface between the simulation and a storage: the simulation runs the package's services above it.

import type { SessionService, SessionServiceOptions } from '../../../js/index.js';
import type { Rules } from '../model/apply.js';
import type { SessionName } from '../operation.js';
import type { Faults } from './faults.js';
import type { Pace } from './pace/pace.js';
import type { Random } from './random.js';

/** A kind of storage, and the faults of its requests. */
export interface Boundary {
  readonly name: string;
  readonly rules: Rules;
  /** Whether a request with an unknown outcome may take effect after its call has failed. */
  readonly mayCommitLate?: boolean;
  /** Operations that it does not support, or that are not exact there. */
  readonly without?: readonly string[];
  /** Whether it has no transactions. Then one client at a time calls it, and waits for each result. */
  readonly isSequential?: boolean;
  start(seed: number): Promise<SimulatedStorage> | SimulatedStorage;
}

/** The storage of one seed. */
export interface SimulatedStorage {
  readonly pace: Pace;
  readonly faults: Faults;
  /** @param options options of the service, with the seed's clock and ids */
  openClient(number: number, options: SessionServiceOptions): Promise<Client> | Client;
  /** Opens a service without faults. */
  openObserver(): Promise<SessionService> | SessionService;
  /** The sessions that clients use, if they cannot be the usual ones. */
  readonly names?: readonly SessionName[];
  /** Violations of the contract that the storage itself has detected. */
  readonly violations?: readonly string[];
  /** Called when a fault ends a client. */
  onCrash?: (client: number) => void;
  /** The faults in order, for the report. */
  readonly notes: string[];
  end(): Promise<void> | void;
}

/** A program, or a tab, that uses the storage. */
export interface Client {
  readonly service: SessionService;
  /** Ends the client. Its promises need not settle. */
  crash(): void;
}

/** What the caller knows about a write after an error. */
export type Knowledge = 'nothing was written' | 'it may have been written';

/** The knowledge that an error code implies; `undefined` if no fault of a storage causes the code. */
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
