// A user's own storage: the storage of the examples, with faults between it and the service.

import { wholeStorage } from '../../js/service/whole_storage.js';
import { openSessionService, SessionError } from '../../../js/index.js';
import type {
  Changes,
  Decide,
  Found,
  Storage,
  StorageWriteRequest,
} from '../../../js/core/storage/index.js';
import type { Boundary, Client, SimulatedStorage } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { CrashedCalls } from '../run/crashed_calls.js';
import { Random } from '../run/random.js';
import { VirtualPace } from '../run/pace/virtual_pace.js';

const FAULTS = {
  /** The verb throws before it begins. */
  throws: { fails: true },
  /** The verb rejects before it begins. */
  rejects: { fails: true },
  /** The storage has no space. */
  'is full': { fails: true },
  /** The transaction is rolled back after the call of `decide`. */
  'rolls back': { fails: true },
  /** The transaction is retried: `decide` is called again, and others may have written in between. */
  'starts over': { fails: false },
  /** The verb takes effect, and its result is lost. */
  'loses the result': { fails: true },
  /** The request waits while others overtake it. */
  delays: { fails: false },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const READ_FAULTS: readonly Fault[] = ['throws', 'rejects', 'delays', 'crashes before', 'loses the result']; // prettier-ignore
const WRITE_FAULTS = Object.keys(FAULTS) as Fault[];

export const ownBoundary: Boundary = {
  name: 'own',
  rules: { hasExactTimes: true },
  start: (seed) => new OwnStorage(seed),
};

class OwnStorage implements SimulatedStorage {
  readonly notes: string[] = [];
  readonly violations: string[] = [];
  readonly pace: VirtualPace;
  readonly faults: Faults<Fault>;
  readonly crashedCalls = new CrashedCalls();
  onCrash?: (client: number) => void;
  readonly #random: Random;
  readonly #store = wholeStorage();
  readonly #restore: () => void;

  constructor(seed: number) {
    this.#random = new Random(seed, 'adapter');
    this.pace = new VirtualPace(new Random(seed, 'pace'));
    this.faults = new Faults(new Random(seed, 'faults'), FAULTS, (note) => this.notes.push(note));
    this.#restore = this.pace.install();
  }

  async openClient(number: number, options: object): Promise<Client> {
    const isSynchronous = this.#random.isLikely(0.2);
    const link = new Link(this, this.#store, number, isSynchronous);
    const service = await openSessionService({ ...options, storage: link });
    return {
      service,
      crash: () => {
        link.isCut = true;
        this.crashedCalls.drop(service);
      },
    };
  }

  openObserver() {
    return openSessionService({ storage: { ...this.#store } });
  }

  /** Checks that every write gives the session a revision above all earlier ones. */
  checked(decide: Decide): Decide {
    return (found) => {
      const changes = decide(found);
      if (changes !== undefined) this.#check(found, changes);
      return changes;
    };
  }

  #check({ session, events, floor }: Found, changes: Changes): void {
    const before = Math.max(session?.revision ?? 0, session === undefined ? floor : 0);
    if (changes.session === undefined && changes.events.length > 0) {
      this.violations.push('events are written without their session');
    }
    if (changes.session !== undefined && !(changes.session.revision > before)) {
      this.violations.push(`revision ${changes.session.revision} comes after ${before}`);
    }
    for (const [number, event] of changes.events.entries()) {
      const earlier = [...changes.events.slice(0, number), ...events];
      const stored = earlier.find(({ id }) => id === event.id);
      if (event.seq !== (stored?.seq ?? event.revision)) {
        this.violations.push(`event ${event.id} moves from ${stored?.seq} to ${event.seq}`);
      }
      if (event.text.includes('temp:')) this.violations.push(`event ${event.id} keeps temp: keys`);
    }
  }

  async end(): Promise<void> {
    this.#restore();
    await this.crashedCalls.end();
  }
}

/** The storage of one client. */
class Link implements Storage {
  readonly durable = false;
  readonly #storage: OwnStorage;
  readonly #store: Storage;
  readonly #client: number;
  readonly #isSynchronous: boolean;
  /** Whether the client has crashed. Its pending calls then never settle. */
  isCut = false;
  #closed = 0;

  constructor(storage: OwnStorage, store: Storage, client: number, isSynchronous: boolean) {
    this.#storage = storage;
    this.#store = store;
    this.#client = client;
    this.#isSynchronous = isSynchronous;
  }

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#write('create', request, decide);
  }

  append(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#write('append', request, decide);
  }

  read: Storage['read'] = (request) => {
    return this.#pass('read', READ_FAULTS, () => this.#store.read(request));
  };

  list: Storage['list'] = (request) => {
    return this.#pass('list', READ_FAULTS, () => this.#store.list(request));
  };

  delete: Storage['delete'] = (request) => {
    return this.#pass('delete', [...READ_FAULTS, 'crashes after'], () => this.#store.delete(request)); // prettier-ignore
  };

  close(): void {
    this.#closed += 1;
    if (this.#closed > 1) this.#storage.violations.push('a storage is closed twice');
  }

  #write(verb: 'create' | 'append', request: StorageWriteRequest, serviceDecide: Decide) {
    const decide = this.#storage.checked(serviceDecide);
    const store = this.#store;
    return this.#pass(verb, WRITE_FAULTS, (fault) => {
      if (fault === 'rolls back' || fault === 'starts over') {
        void store[verb](request, (found) => {
          decide(found);
          return undefined;
        });
      }
      if (fault === 'rolls back') throw new Error('the transaction was rolled back');
      const write = () => store[verb](request, decide);
      return fault === 'starts over' && !this.#isSynchronous ? this.#turn().then(write) : write();
    });
  }

  /** Runs a verb, with a fault if the seed decides so. */
  #pass<T>(
    verb: string,
    possible: readonly Fault[],
    run: (fault: Fault | undefined) => T | Promise<T>,
  ): T | Promise<T> {
    if (this.isCut) throw new Error('the client has crashed');
    const fault = this.#storage.faults.at(this.#client, verb, possible);
    if (fault === 'throws') throw new Error('the storage throws');
    if (this.#isSynchronous) return this.#run(fault, run);
    return this.#later(fault, run);
  }

  async #later<T>(
    fault: Fault | undefined,
    run: (fault: Fault | undefined) => T | Promise<T>,
  ): Promise<T> {
    await this.#turn();
    if (fault === 'delays') for (let turns = 5; turns > 0; turns -= 1) await this.#turn();
    // A request that the client sent before its crash may still take effect.
    const result = await this.#run(fault, run);
    await this.#turn();
    if (this.isCut) return this.#storage.crashedCalls.wait();
    return result;
  }

  #run<T>(
    fault: Fault | undefined,
    run: (fault: Fault | undefined) => T | Promise<T>,
  ): T | Promise<T> {
    if (fault === 'rejects') throw new Error('the storage rejects');
    if (fault === 'is full') throw new SessionError('quota_exceeded', 'There is no space.');
    if (fault === 'crashes before') return this.#crash();
    const result = run(fault);
    if (fault === 'crashes after') return this.#crash();
    if (fault !== 'loses the result') return result;
    const loseResult = (): never => {
      throw new SessionError('connection_lost', 'The result is lost.');
    };
    return result instanceof Promise ? result.then(loseResult) : loseResult();
  }

  #crash(): Promise<never> {
    this.#storage.onCrash?.(this.#client);
    return this.#storage.crashedCalls.wait();
  }

  #turn(): Promise<void> {
    return this.#storage.pace.turn();
  }
}
