import { MARK, META } from '../layout.js';
import type { Change, Mark, PendingTransaction, TouchedKeys } from './mirror_position.js';
import { MirrorDatabase } from './mirror_database.js';
import { type Limits, reconcile } from './reconcile.js';
import { lost } from '../requests.js';

/** Maximum number of keys that a mark lists for one transaction. */
const MOST_KEYS = 1000;
/** Maximum number of transactions that a mark lists. */
const MOST_PENDING = 30;

/**
 * Makes a connection repeat all its writes in the mirror. The `complete` event of a transaction is reported
 * only when the mirror has the transaction too. If that fails, `abort` is reported as for a lost connection:
 * a retry finds what is stored.
 *
 * It replaces methods of this connection and its transactions. The core calls these methods from the wasm,
 * which has no second way of writing.
 */
export function mirrorWrites(
  database: IDBDatabase,
  name: string,
  mirror: MirrorDatabase,
  limits: Limits,
): void {
  const writer = new Writer(name, mirror, limits);
  const begin = database.transaction.bind(database);
  const close = database.close.bind(database);
  database.transaction = (stores, mode, options) => {
    if (mode !== 'readwrite') return begin(stores, mode);
    const names = new Set(typeof stores === 'string' ? [stores, META] : [...stores, META]);
    const transaction = begin([...names], mode, options);
    record(transaction, writer, options?.durability ?? 'default');
    return transaction;
  };
  database.close = () => {
    close();
    writer.close();
  };
}

/** Records the writes of a transaction, and repeats them in the mirror after its commit. */
function record(
  transaction: IDBTransaction,
  writer: Writer,
  durability: IDBTransactionDurability,
): void {
  const changes: Change[] = [];
  const meta = transaction.objectStore(META);
  const putMark = meta.put.bind(meta);
  const request = meta.get(MARK) as IDBRequest<Mark | undefined>;
  const commit = transaction.commit.bind(transaction);
  let reached: Mark | undefined;
  let isCommitted = false;
  const finish = (): void => {
    const found = request.result;
    reached = found;
    // Without a mark, write one: the whole database is then copied to the mirror.
    if (changes.length > 0 || found === undefined) {
      putMark((reached = writer.next(found, changes)));
    }
    commit();
  };
  request.onsuccess = () => {
    if (isCommitted) finish();
  };
  transaction.commit = () => {
    isCommitted = true;
    if (request.readyState === 'done') finish();
  };

  const recorded = new Set<string>();
  const storeOf = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const store = storeOf(name);
    if (!recorded.has(name)) recordStore(store, changes);
    recorded.add(name);
    return store;
  };

  reportCompletion(transaction, async () => {
    if (reached !== undefined) await writer.follow(reached, changes, durability);
  });
}

/**
 * Reports the end of a transaction once the mirror has it too: `complete`, or `abort` if the mirror cannot have it.
 *
 * @param follow waits for the mirror
 */
function reportCompletion(transaction: IDBTransaction, follow: () => Promise<void>): void {
  let onComplete: IDBTransaction['oncomplete'] = null;
  Object.defineProperty(transaction, 'oncomplete', {
    get: () => onComplete,
    set: (listener: IDBTransaction['oncomplete']) => (onComplete = listener),
  });
  transaction.addEventListener('complete', (event) => {
    follow().then(
      () => {
        onComplete?.call(transaction, event);
      },
      (cause: unknown) => {
        // Not `quota_exceeded`, which says that nothing was written: the database itself has it.
        const isFull = (cause as Error).name === 'QuotaExceededError';
        const advice = isFull ? 'its mirror has no room: delete sessions first' : String(cause);
        const error = lost(`the database has what was written, but not its mirror: ${advice}`);
        const event = { type: 'abort', target: { error } } as unknown as Event;
        transaction.onabort?.call(transaction, event);
      },
    );
  });
}

function recordStore(store: IDBObjectStore, changes: Change[]): void {
  const { name, keyPath } = store;
  for (const verb of ['put', 'add'] as const) {
    const write = store[verb].bind(store);
    store[verb] = (value: object) => {
      const request = write(value);
      // A copy, since the core may change a record after it has put it.
      changes.push({ touched: [name, keyOf(value, keyPath)], record: { ...value } });
      return request;
    };
  }
  const remove = store.delete.bind(store);
  store.delete = (key) => {
    const request = remove(key);
    const touched: TouchedKeys =
      key instanceof IDBKeyRange
        ? [name, key.lower as IDBValidKey, key.upper as IDBValidKey]
        : [name, key];
    changes.push({ touched });
    return request;
  };
}

function keyOf(record: object, path: IDBObjectStore['keyPath']): IDBValidKey {
  const values = record as Record<string, IDBValidKey>;
  return Array.isArray(path) ? path.map((member) => values[member]!) : values[path!]!;
}

/** Repeats a connection's committed transactions in the mirror. */
class Writer {
  readonly #name: string;
  readonly #limits: Limits;
  #mirror: MirrorDatabase;
  #isClosed = false;
  /** The position that the mirror is known to have reached. */
  #confirmed = { epoch: '', seq: 0 };

  constructor(name: string, mirror: MirrorDatabase, limits: Limits) {
    this.#name = name;
    this.#limits = limits;
    this.#mirror = mirror;
  }

  close(): void {
    this.#isClosed = true;
    this.#mirror.close();
  }

  /** Returns the mark of a transaction that makes these changes. */
  next(found: Mark | undefined, changes: readonly Change[]): Mark {
    const { epoch, seq, pending } = found ?? { epoch: crypto.randomUUID(), seq: 0, pending: [] };
    const confirmed = this.#confirmed.epoch === epoch ? this.#confirmed.seq : 0;
    const touched =
      changes.length > MOST_KEYS ? undefined : changes.map((change) => change.touched);
    const listed = pending.filter((entry) => entry.seq > confirmed).slice(1 - MOST_PENDING);
    const own: PendingTransaction = { seq: seq + 1, touched };
    return { key: MARK, epoch, seq: seq + 1, pending: [...listed, own] };
  }

  /** Resolves when the mirror has the transaction of that mark, and all before it. */
  async follow(
    { epoch, seq }: Mark,
    changes: readonly Change[],
    durability: IDBTransactionDurability,
  ): Promise<void> {
    const isKnown = this.#confirmed.epoch === epoch && this.#confirmed.seq >= seq;
    if (isKnown) return;
    let reached = { epoch, seq };
    if (!(await this.#append(epoch, seq, changes, durability))) {
      const mark = await reconcile(this.#name, {
        ...this.#limits,
        isWanted: true,
        mayStayBehind: false,
      });
      if (mark?.epoch !== epoch || mark.seq < seq) {
        throw lost('the database was restored from its mirror');
      }
      reached = mark;
      if (this.#mirror.isClosed && !this.#isClosed)
        this.#mirror = await MirrorDatabase.open(this.#name, this.#limits.timeout);
    }
    const { epoch: before, seq: last } = this.#confirmed;
    if (before !== epoch || last < reached.seq) this.#confirmed = reached;
  }

  async #append(
    epoch: string,
    seq: number,
    changes: readonly Change[],
    durability: IDBTransactionDurability,
  ): Promise<boolean> {
    try {
      return await this.#mirror.append(epoch, seq, changes, durability);
    } catch {
      // The mirror's connection is lost, or its quota is used up: `reconcile` finds out which.
      return false;
    }
  }
}
