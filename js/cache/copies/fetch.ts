import { SessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StateOwner } from '../../storage/scopes.js';
import { nameOf } from '../records/cache_key.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { type Copy, isWaiting, type SessionRecord } from '../records/records.js';
import { forEachOf, Turns } from '../records/turns.js';
import { firstEventId, type FetchStart, takeOlder, takeSession } from './copy_writer.js';
import type { Bounds } from './bounds.js';
import type { RemoteSession } from './remote_end.js';
import type { CacheContext } from './context.js';

/** The most copies that are brought up to the remote at once. */
const MOST_AT_ONCE = 8;

/** The least events of a copy that does not have all. */
const SMALLEST_WINDOW = 100;

export interface FetchParts extends CacheContext {
  readonly bounds: Bounds;
  /** Fetches states again that have changed since a fetch began. */
  readonly fetchOvertaken: (owners: readonly StateOwner[]) => Promise<void>;
}

interface FetchRequest {
  readonly key: CompositeSessionKey;
  /** The newest events that the copy must have at least. */
  readonly need: number;
  /** Whether the remote is asked also if there is such a copy by then. */
  readonly isRevalidation: boolean;
}

/** Brings copies of sessions up to the remote. */
export class Fetch {
  readonly #parts: FetchParts;
  /** The fetches of each session, one after the other. */
  readonly turns = new Turns<FetchRequest>((requests) =>
    this.#run({
      key: requests[0].key,
      need: Math.max(...requests.map(({ need }) => need)),
      isRevalidation: requests.some(({ isRevalidation }) => isRevalidation),
    }),
  );

  constructor(parts: FetchParts) {
    this.#parts = parts;
  }

  /**
   * Brings a copy up to the remote, or makes it. Calls that come before it begins share it.
   *
   * @param need the newest events that the copy must have at least
   */
  copy(key: CompositeSessionKey, need = 0): Promise<void> {
    return this.turns.call(nameOf(key), { key, need, isRevalidation: true });
  }

  /** Brings a copy up to the remote after the caller has got what is here, so that its transaction is the only one. */
  copyLater(key: CompositeSessionKey, report: (error: unknown) => void): void {
    setTimeout(() => void this.copy(key).catch(report));
  }

  /** Brings copies up to the remote, some at once. */
  copies(keys: readonly CompositeSessionKey[]): Promise<void> {
    const { erasure } = this.#parts.remote;
    return forEachOf(keys, MOST_AT_ONCE, async (key) => {
      erasure.throwIfAborted();
      await this.copy(key);
    });
  }

  /** Makes a copy, or one with more events. Asks nothing if a fetch that was under way has made it. */
  require(key: CompositeSessionKey, need: number): Promise<void> {
    return this.turns.call(nameOf(key), { key, need, isRevalidation: false });
  }

  async #run(request: FetchRequest): Promise<void> {
    // A copy that was deleted meanwhile is fetched as a whole.
    while (!(await this.#fetch(request)));
  }

  /** @returns whether the answer could be taken */
  async #fetch({ key, need, isRevalidation }: FetchRequest): Promise<boolean> {
    const { data, remote } = this.#parts;
    const { erasure } = remote;
    const { record, start, isDeleted, isCreating, firstId } = await data.read(
      async (transaction) => {
        const record = await transaction.session(key);
        const view = await transaction.view(key);
        return {
          record,
          start: startOf(transaction, record),
          isDeleted:
            view === undefined && record !== undefined && !(await hasCreation(transaction, key)),
          isCreating: record?.copy === undefined && (await hasCreation(transaction, key, true)),
          firstId: record?.copy && (await firstEventId(transaction, key, record.copy)),
        };
      },
    );
    erasure.throwIfAborted();
    // A deletion waits to be sent, or a creation whose answer says what the remote has.
    if (isDeleted || isCreating) return true;
    const copy = record?.copy;
    const size = copy === undefined ? 0 : copy.next - copy.first;
    const isEnough = copy !== undefined && !copy.isStale && (!copy.hasOlder || size >= need);
    if (!isRevalidation && isEnough) return true;
    if (
      copy !== undefined &&
      !copy.isStale &&
      firstId !== undefined &&
      !isEnough &&
      need < Infinity
    ) {
      const missing = Math.max(need - size, SMALLEST_WINDOW);
      if (await this.#fetchOlder(key, start, firstId, missing)) {
        if (!isRevalidation) return true;
      }
    }
    const canAskChanges = copy !== undefined && !copy.isStale && copy.created !== null;
    const hasEnough = isEnough || (need < Infinity && firstId !== undefined);
    if (canAskChanges && hasEnough) {
      const changes = await remote.changes(key, copy);
      if (changes !== undefined && isAsCopied(changes, copy)) return true;
      return this.#take(key, start, changes);
    }
    // A session that was created here and has no copy may have events of others: a handle of it needs all of them.
    const isWhole =
      need === Infinity || (need === 0 && copy === undefined) || copy?.hasOlder === false;
    const last = isWhole ? undefined : Math.max(need, size, SMALLEST_WINDOW);
    return this.#take(key, start, await remote.session(key, last));
  }

  /** @returns whether the copy has older events now */
  async #fetchOlder(
    key: CompositeSessionKey,
    start: FetchStart,
    firstId: string,
    limit: number,
  ): Promise<boolean> {
    const { remote, bounds } = this.#parts;
    const { created = null } = start;
    const older = await remote.older(key, firstId, limit);
    if (older?.created !== created) return false;
    const { events, hasOlder } = older;
    await bounds.store(key, start, (transaction) =>
      takeOlder(transaction, key, created, firstId, events, hasOlder),
    );
    return true;
  }

  async #take(
    key: CompositeSessionKey,
    start: FetchStart,
    session: Parameters<typeof takeSession>[2],
  ): Promise<boolean> {
    const { bounds, clock, fetchOvertaken } = this.#parts;
    const overtaken = await bounds.store(key, start, (transaction) =>
      takeSession(transaction, key, session, start, clock()),
    );
    bounds.checkSoon();
    if (overtaken === undefined) return false;
    await fetchOvertaken(overtaken);
    return true;
  }
}

/** Whether a session is as it was when it was copied. */
function isAsCopied(session: RemoteSession, copy: Copy): boolean {
  const { revision, lastUpdateTime, title, labels, state, events } = session;
  const isSame = revision === copy.revision && lastUpdateTime === copy.lastUpdateTime;
  const isDescribed = title === copy.title && labels === copy.labels;
  return isSame && isDescribed && state === undefined && events.length === 0;
}

/**
 * Whether a session was created here.
 *
 * @param isToSend whether only a creation counts that waits to be sent. One with events that was sent without an answer
 *   does not: others may have replaced its events meanwhile.
 */
async function hasCreation(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  isToSend = false,
): Promise<boolean> {
  const operations = await transaction.operations(key);
  return operations.some((operation) => {
    const { kind, refusal, isThere, attempts, creation } = operation;
    if (kind !== 'create' || !isToSend) return kind === 'create';
    const mayBeThere = isThere === true || (attempts > 0 && creation!.events.length > 0);
    return refusal === undefined && isWaiting(operation) && !mayBeThere;
  });
}

function startOf(
  { counter: began, client }: CacheTransaction,
  record: SessionRecord | undefined,
): FetchStart {
  return { began, client, created: record?.copy?.created, birth: record?.birth ?? 0 };
}

/** A remote whose answers contradict each other. */
export function contradictionError({ sessionId }: CompositeSessionKey): SessionError {
  const id = JSON.stringify(sessionId);
  const message = `The remote's answers about session ${id} contradict each other. It is asked again later.`;
  return new SessionError('remote', message, { storage: 'cache' });
}
