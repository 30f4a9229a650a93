// The seam for storages of one's own: the adapter of the examples, with faults between it and the service.

import { mapAdapter } from '../../../js/examples/map_adapter.js';
import {
  type Changes,
  type Decide,
  type Found,
  openSessionService,
  SessionError,
  type StorageAdapter,
  type StorageWriteRequest,
} from '../../../js/index.js';
import type { Boundary, Client, Simulated } from '../run/boundary.js';
import { Faults } from '../run/faults.js';
import { Lost } from '../run/lost.js';
import { Random } from '../run/random.js';
import { VirtualPace } from '../run/virtual_pace.js';

const FAULTS = {
  /** The verb throws before it begins. */
  throws: { fails: true },
  /** The verb rejects before it begins. */
  rejects: { fails: true },
  /** The storage has no room. */
  'is full': { fails: true },
  /** The transaction is rolled back after `decide` was asked. */
  'rolls back': { fails: true },
  /** The transaction starts over: `decide` is asked again after others may have written. */
  'starts over': { fails: false },
  /** The verb happens and its answer is lost. */
  'loses the answer': { fails: true },
  /** The request waits while others overtake it. */
  delays: { fails: false },
  'crashes before': { fails: true },
  'crashes after': { fails: true },
} as const;

type Fault = keyof typeof FAULTS;

const READ_FAULTS: readonly Fault[] = ['throws', 'rejects', 'delays', 'crashes before', 'loses the answer']; // prettier-ignore
const WRITE_FAULTS = Object.keys(FAULTS) as Fault[];

export const adapterBoundary: Boundary = {
  name: 'adapter',
  rules: { hasExactTimes: true },
  start: (seed) => new AdapterStorage(seed),
};

class AdapterStorage implements Simulated {
  readonly notes: string[] = [];
  readonly complaints: string[] = [];
  readonly pace: VirtualPace;
  readonly faults: Faults<Fault>;
  readonly lost = new Lost();
  onCrash?: (client: number) => void;
  readonly #random: Random;
  readonly #store = mapAdapter();
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
        this.lost.drop(service);
      },
    };
  }

  openObserver() {
    return openSessionService({ storage: { ...this.#store } });
  }

  /** Every write makes the session's revision grow beyond all that were ever given. */
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
      this.complaints.push('events are written without their session');
    }
    if (changes.session !== undefined && !(changes.session.revision > before)) {
      this.complaints.push(`revision ${changes.session.revision} comes after ${before}`);
    }
    for (const [number, event] of changes.events.entries()) {
      const earlier = [...changes.events.slice(0, number), ...events];
      const stored = earlier.find(({ id }) => id === event.id);
      if (event.seq !== (stored?.seq ?? event.revision)) {
        this.complaints.push(`event ${event.id} moves from ${stored?.seq} to ${event.seq}`);
      }
      if (event.text.includes('temp:')) this.complaints.push(`event ${event.id} keeps temp: keys`);
    }
  }

  async end(): Promise<void> {
    this.#restore();
    await this.lost.end();
  }
}

/** What one client has of the storage. */
class Link implements StorageAdapter {
  readonly durable = false;
  readonly #storage: AdapterStorage;
  readonly #store: StorageAdapter;
  readonly #client: number;
  readonly #isSynchronous: boolean;
  /** Whether the client has crashed: nothing that it waits for is answered. */
  isCut = false;
  #closed = 0;

  constructor(
    storage: AdapterStorage,
    store: StorageAdapter,
    client: number,
    isSynchronous: boolean,
  ) {
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

  read: StorageAdapter['read'] = (request) => {
    return this.#pass('read', READ_FAULTS, () => this.#store.read(request));
  };

  list: StorageAdapter['list'] = (request) => {
    return this.#pass('list', READ_FAULTS, () => this.#store.list(request));
  };

  delete: StorageAdapter['delete'] = (request) => {
    return this.#pass('delete', [...READ_FAULTS, 'crashes after'], () => this.#store.delete(request)); // prettier-ignore
  };

  close(): void {
    this.#closed += 1;
    if (this.#closed > 1) this.#storage.complaints.push('an adapter is closed twice');
  }

  #write(verb: 'create' | 'append', request: StorageWriteRequest, ask: Decide) {
    const decide = this.#storage.checked(ask);
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

  /** Runs a verb with whatever goes wrong at it. */
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
    // What the client had sent when it crashed may still happen.
    const result = await this.#run(fault, run);
    await this.#turn();
    if (this.isCut) return this.#storage.lost.wait();
    return result;
  }

  #run<T>(
    fault: Fault | undefined,
    run: (fault: Fault | undefined) => T | Promise<T>,
  ): T | Promise<T> {
    if (fault === 'rejects') throw new Error('the storage rejects');
    if (fault === 'is full') throw new SessionError('quota_exceeded', 'There is no room.');
    if (fault === 'crashes before') return this.#crash();
    const result = run(fault);
    if (fault === 'crashes after') return this.#crash();
    if (fault !== 'loses the answer') return result;
    const lose = (): never => {
      throw new SessionError('connection_lost', 'The answer is lost.');
    };
    return result instanceof Promise ? result.then(lose) : lose();
  }

  #crash(): Promise<never> {
    this.#storage.onCrash?.(this.#client);
    return this.#storage.lost.wait();
  }

  #turn(): Promise<void> {
    return this.#storage.pace.turn();
  }
}
