// A local storage in memory, whose requests a test may hold or let fail.

import { CoreStore } from '../../../../js/storage/core_store.js';
import { createMemoryCore } from '../../../../js/wasm/core.js';
import { loadWasm } from '../../../../js/wasm/loading.js';
import { Feed } from '../../../../js/watch/feed.js';
import { linkedStore, type Pass, serviceOver } from '../../../simulation/cache/linked_service.js';

/** The apps under which the local storage keeps the copies, the records, and what concerns the cache as a whole. */
export const COPIES = JSON.stringify(['ada', 'shop']);
export const RECORDS = `${COPIES} records`;
export const OWN = JSON.stringify(['ada']);

/** A request to the local storage, by its verb and the app that it names. */
export interface LocalRequest {
  readonly verb: string;
  readonly appName: string;
  readonly userId: string | undefined;
  /** Whether it replaces the end of a copy. */
  readonly isTruncating: boolean;
}

/** A point at which requests wait until a test opens it. */
export class Gate {
  open!: () => void;
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));
  isReached = false;

  pass(): Promise<void> {
    this.isReached = true;
    return this.#opened;
  }
}

export class HeldLocal {
  readonly requests: LocalRequest[] = [];
  /** Called before each request. */
  before: (request: LocalRequest) => Promise<void> | void = () => undefined;
  /** Called after each request, before the cache gets the answer. */
  after: (request: LocalRequest) => Promise<void> | void = () => undefined;
  readonly #store: CoreStore;

  private constructor(store: CoreStore) {
    this.#store = store;
  }

  static async open(): Promise<HeldLocal> {
    await loadWasm(true);
    return new HeldLocal(new CoreStore(createMemoryCore(), true));
  }

  /** Opens the storage for one tab. With a feed of its own it gets no messages of others. */
  tab(feed = new Feed()) {
    const pass: Pass = async (verb, run, values) => {
      const request = requestOf(verb, values);
      this.requests.push(request);
      await this.before(request);
      const result = await run();
      await this.after(request);
      return result;
    };
    return serviceOver('memory', linkedStore(this.#store, pass), {}, feed);
  }

  /** Holds the first such request, before it runs. */
  holdFirst(isHeld: (request: LocalRequest) => boolean): Gate {
    const gate = new Gate();
    this.before = async (request) => {
      if (!gate.isReached && isHeld(request)) await gate.pass();
    };
    return gate;
  }
}

function requestOf(verb: string, values: readonly unknown[]): LocalRequest {
  const [first, second] = values as [unknown, unknown];
  if (typeof first === 'string') {
    const userId = typeof second === 'string' ? second : undefined;
    return { verb, appName: first, userId, isTruncating: false };
  }
  const { key = first } = Object(first) as { key?: unknown };
  const { appName = '', userId } = Object(key) as { appName?: string; userId?: string };
  const isTruncating = Object.hasOwn(Object(first) as object, 'truncateAfter');
  return { verb, appName, userId, isTruncating };
}
