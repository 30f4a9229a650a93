// The local storage in IndexedDB, whose browser does not answer or freezes the page.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';

type Store = InstanceType<
  typeof import('../../../../../js/stores/cache/local_store/indexed_db_local_store.js').IndexedDbLocalStore
>;

/** Connections that were closed, by their number. */
let closed: number[] = [];
let openings = 0;
/** Whether the browser answers. */
let doesAnswer = true;

/** Whether requests are answered. */
let doesRead = true;
/** The number of transactions that were aborted. */
let aborted = 0;
/** The number of puts for which there is no room. */
let fullPuts = 0;
/** Whether the next transaction may only delete, as in Firefox behind one without room. */
let isFull = false;
/** The number of puts of transactions that have finished. */
let latePuts = 0;
/** Whether clean-ups are aborted. */
let failsToDelete = false;
/** The requests that were made to write. */
let written: string[] = [];

class Transaction extends EventTarget {
  error: DOMException | null = null;
  readonly #mayPut: boolean;
  readonly #failures: ((error: DOMException) => void)[] = [];
  constructor(mode: string) {
    super();
    this.#mayPut = mode !== 'readwrite' || !isFull;
    if (mode === 'readwrite') isFull = false;
  }
  objectStore() {
    if ((latePuts -= 1) >= 0) throw new DOMException('has finished', 'InvalidStateError');
    const never = (): Promise<never> =>
      new Promise((_, reject) => void this.#failures.push(reject));
    const write = (name: string): Promise<void> => {
      written.push(name);
      setImmediate(() => this.dispatchEvent(new Event('complete')));
      return Promise.resolve();
    };
    return {
      get: () => (doesRead ? Promise.resolve('a value') : never()),
      put: () => {
        if (!this.#mayPut) throw new DOMException('only deletes', 'InvalidStateError');
        if ((fullPuts -= 1) < 0) return write('put');
        isFull = true;
        return this.#fail(new DOMException('no room', 'QuotaExceededError'));
      },
      delete: () =>
        failsToDelete ? this.#fail(new DOMException('failed', 'UnknownError')) : write('delete'),
    };
  }
  /** Lets a request fail, and aborts. */
  #fail(error: DOMException): Promise<never> {
    this.error = error;
    setImmediate(() => this.dispatchEvent(new Event('abort')));
    return Promise.reject(error);
  }
  abort(): void {
    aborted += 1;
    const error = new DOMException('aborted', 'AbortError');
    for (const fail of this.#failures) fail(error);
    this.dispatchEvent(new Event('abort'));
  }
}

class Database extends EventTarget {
  readonly #number = openings;
  close(): void {
    closed.push(this.#number);
  }
  transaction(_: unknown, mode: string): Transaction {
    if (closed.includes(this.#number)) throw new DOMException('closed', 'InvalidStateError');
    return new Transaction(mode);
  }
}

class OpenRequest extends EventTarget {
  result: Database | undefined;
}

/** Stands in for a page with IndexedDB. */
function asPage(): EventTarget {
  const page = new EventTarget();
  const nothing = class {};
  Object.assign(globalThis, {
    onpagehide: null,
    addEventListener: page.addEventListener.bind(page),
    document: new EventTarget(),
    IDBRequest: OpenRequest,
    IDBDatabase: Database,
    IDBTransaction: Transaction,
    IDBObjectStore: nothing,
    IDBIndex: nothing,
    IDBCursor: class {
      advance = undefined;
    },
    indexedDB: {
      open: () => {
        openings += 1;
        const request = new OpenRequest();
        if (doesAnswer) {
          queueMicrotask(() => {
            request.result = new Database();
            request.dispatchEvent(new Event('success'));
          });
        }
        return request;
      },
    },
  });
  return page;
}

const page = asPage();
const { IndexedDbLocalStore } =
  await import('../../../../../js/stores/cache/local_store/indexed_db_local_store.js');

function open(test: TestContext): Store {
  [closed, openings, doesAnswer, doesRead, aborted] = [[], 0, true, true, 0];
  [fullPuts, isFull, latePuts, failsToDelete, written] = [0, false, 0, false, []];
  const store = new IndexedDbLocalStore(() => undefined);
  test.after(() => store.close());
  return store;
}

const read = (store: Store): Promise<unknown> =>
  store.transaction('readonly', (transaction) => transaction.get('sessions', ['ada']));

const transition = (type: string): boolean =>
  page.dispatchEvent(Object.assign(new Event(type), { persisted: true }));

it('the local storage closes its connection while the page is frozen, and reads when it is shown again', async (test) => {
  const store = open(test);
  assert.equal(await read(store), 'a value');
  transition('pagehide');
  let isRead = false;
  const reading = read(store).then((value) => {
    isRead = true;
    return value;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([closed, openings, isRead], [[1], 1, false]);
  transition('pageshow');
  assert.equal(await reading, 'a value');
  assert.equal(openings, 2);
});

it('the local storage aborts its transactions before the page is frozen, and repeats them when it is shown again', async (test) => {
  const store = open(test);
  doesRead = false;
  const reading = read(store);
  await new Promise((resolve) => setTimeout(resolve, 20));
  transition('pagehide');
  assert.equal(aborted, 1);
  doesRead = true;
  transition('pageshow');
  assert.equal(await reading, 'a value');
  assert.deepEqual([closed, openings], [[1], 2]);
});

it('the local storage ends what waits for a frozen page when it is closed', async (test) => {
  const store = open(test);
  transition('pagehide');
  const reading = read(store);
  await store.close();
  await assert.rejects(reading, { code: 'closed' });
  transition('pageshow');
});

it('the local storage fails with `storage_blocked` if the browser does not open it in time, and tries again', async (test) => {
  const store = open(test);
  doesAnswer = false;
  test.mock.timers.enable({ apis: ['setTimeout'] });
  const reading = read(store);
  const refusal = assert.rejects(reading, { code: 'storage_blocked', message: /Close other tabs/ });
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  test.mock.timers.tick(30_000);
  await refusal;
  doesAnswer = true;
  assert.equal(await read(store), 'a value');
});

const write = (store: Store): Promise<void> =>
  store.transaction('readwrite', (transaction) => transaction.put('sessions', ['ada'], 'tea'));

it('the local storage cleans up and writes again if there was no room', async (test) => {
  const store = open(test);
  fullPuts = 1;
  await write(store);
  assert.deepEqual(written, ['delete', 'put']);
});

it('the local storage fails with `quota_exceeded` if there is no room after a clean-up', async (test) => {
  const store = open(test);
  fullPuts = 2;
  await assert.rejects(() => write(store), { code: 'quota_exceeded' });
  assert.deepEqual(written, ['delete']);
});

it('the local storage cleans up and writes again if Firefox refuses the puts behind a transaction without room', async (test) => {
  const store = open(test);
  fullPuts = 2;
  await assert.rejects(() => write(store), { code: 'quota_exceeded' });
  await write(store);
  assert.deepEqual(written, ['delete', 'delete', 'put']);
});

it('the local storage fails with `storage_failed` if a put is refused while there is room', async (test) => {
  const store = open(test);
  latePuts = 1;
  await assert.rejects(() => write(store), { code: 'storage_failed' });
  assert.deepEqual(written, []);
  fullPuts = 1;
  await write(store);
  written = [];
  latePuts = 1;
  await assert.rejects(() => write(store), { code: 'storage_failed' });
  assert.deepEqual(written, [], 'there is room since the last write');
});

it('the local storage fails with `quota_exceeded` alone if the clean-up is aborted', async (test) => {
  const store = open(test);
  const rejected: unknown[] = [];
  const note = (error: unknown): void => void rejected.push(error);
  process.on('unhandledRejection', note);
  test.after(() => process.off('unhandledRejection', note));
  fullPuts = 2;
  failsToDelete = true;
  await assert.rejects(() => write(store), { code: 'quota_exceeded' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(rejected, []);
});
