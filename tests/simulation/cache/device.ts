// A device: a local store that its tabs share, and the tabs' way to the remote. Tabs crash and freeze; requests to the
// remote fail.

import { SessionError } from '../../../js/index.js';
import { CachedSessionService } from '../../../js/cache/index.js';
import { CoreStore } from '../../../js/storage/core_store.js';
import { createMemoryCore } from '../../../js/wasm/core.js';
import { Feed } from '../../../js/watch/feed.js';
import type { CrashedCalls } from '../run/crashed_calls.js';
import type { Faults } from '../run/faults.js';
import type { VirtualPace } from '../run/pace/virtual_pace.js';
import { linkedStore, type Pass, serviceOver } from './linked_service.js';
import type { Remote } from './remote.js';

export const REMOTE_FAULTS = {
  /** The request does not arrive. */
  'cuts before': { fails: true },
  /** The request takes effect, and its response is lost. */
  'cuts after': { fails: true },
  /** The request takes effect, and the response is cut off in its middle. */
  'garbles the response': { fails: true },
  'responds 503': { fails: true },
  'responds 429': { fails: true },
  /** The request waits while others overtake it. */
  delays: { fails: false },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

export const LOCAL_FAULTS = {
  'crashes before': { fails: true },
  'crashes after': { fails: true },
  delays: { fails: false },
} as const;

export type RemoteFault = keyof typeof REMOTE_FAULTS;
export type LocalFault = keyof typeof LOCAL_FAULTS;

/** What all devices of a seed share. */
export interface Surroundings {
  readonly pace: VirtualPace;
  readonly remote: Remote;
  readonly remoteFaults: Faults<RemoteFault>;
  readonly localFaults: Faults<LocalFault>;
  readonly crashedCalls: CrashedCalls;
  readonly newId: () => string;
  readonly onCrash: (tab: number) => void;
  readonly note: (text: string) => void;
}

const ALL_REMOTE = Object.keys(REMOTE_FAULTS) as RemoteFault[];
const ALL_LOCAL = Object.keys(LOCAL_FAULTS) as LocalFault[];

export class Device {
  readonly number: number;
  isOffline = false;
  readonly #local = new CoreStore(createMemoryCore(), true);
  readonly #feed = new Feed();
  readonly #shared: Surroundings;

  constructor(number: number, shared: Surroundings) {
    this.number = number;
    this.#shared = shared;
  }

  openTab(number: number): Tab {
    return new Tab(number, this, this.#local, this.#feed, this.#shared);
  }

  end(): void {
    this.#local.free();
  }
}

export class Tab {
  readonly number: number;
  readonly device: Device;
  readonly service: CachedSessionService;
  /** Whether a write resolves only when the remote has it. */
  readonly isThrough: boolean;
  readonly #shared: Surroundings;
  /** Whether it has crashed. Its pending calls then never settle. */
  #isCut = false;
  #thaw: Promise<void> | undefined;

  constructor(number: number, device: Device, local: CoreStore, feed: Feed, shared: Surroundings) {
    this.number = number;
    this.device = device;
    this.#shared = shared;
    const { remote, newId } = shared;
    this.isThrough = number % 3 === 2;
    this.service = new CachedSessionService({
      remote: serviceOver('remote', linkedStore(remote.store, this.#passToRemote)),
      local: serviceOver('memory', linkedStore(local, this.#passToLocal), {}, feed),
      owner: 'ada',
      write: this.isThrough ? 'through' : 'local',
      newId,
    });
  }

  get isFrozen(): boolean {
    return this.#thaw !== undefined;
  }

  crash(): void {
    this.#isCut = true;
    this.#shared.crashedCalls.drop(this.service);
  }

  /** Lets no request continue for this time. */
  freeze(milliseconds: number): void {
    const thaw = new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
    this.#thaw = thaw.then(() => void (this.#thaw = undefined));
  }

  readonly #passToRemote: Pass = async (verb, run) => {
    const { remoteFaults } = this.#shared;
    await this.#turn();
    const fault = remoteFaults.at(this.number, `remote ${verb}`, ALL_REMOTE);
    this.#shared.note(`tab ${this.number} asks the remote: ${verb}`);
    if (this.device.isOffline || fault === 'cuts before') throw lost();
    if (fault === 'responds 503' || fault === 'responds 429') throw refused(fault);
    if (fault === 'delays') for (let turns = 6; turns > 0; turns -= 1) await this.#turn();
    if (fault === 'crashes before') return this.#crash();
    const result = await run();
    if (fault === 'crashes after') return this.#crash();
    await this.#turn();
    if (fault === 'cuts after' || fault === 'garbles the response') throw lost();
    return result;
  };

  readonly #passToLocal: Pass = async (verb, run) => {
    await this.#turn();
    const fault = this.#shared.localFaults.at(this.number, `local ${verb}`, ALL_LOCAL);
    if (fault === 'delays') for (let turns = 4; turns > 0; turns -= 1) await this.#turn();
    if (fault === 'crashes before') return this.#crash();
    const result = await run();
    if (fault === 'crashes after') return this.#crash();
    await this.#turn();
    return result;
  };

  /** Waits for the turn of the next request. A crashed tab never gets it. */
  async #turn(): Promise<void> {
    const { pace, crashedCalls } = this.#shared;
    await pace.turn();
    while (this.#thaw !== undefined && !this.#isCut) await this.#thaw;
    if (this.#isCut) await crashedCalls.wait();
  }

  #crash(): Promise<never> {
    // Also a tab that is closing, which the simulation knows no more: its timers must not renew its lease.
    this.#isCut = true;
    this.#shared.onCrash(this.number);
    return this.#shared.crashedCalls.wait();
  }
}

function lost(): SessionError {
  return new SessionError('connection_lost', 'The connection is lost.');
}

function refused(fault: 'responds 503' | 'responds 429'): SessionError {
  const status = Number(fault.slice(-3));
  return new SessionError('remote', `The server responds ${status}.`, { status });
}
