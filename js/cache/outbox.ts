import { ownerOf } from '../storage/scopes.js';
import { isSessionError, SessionError } from '../errors/errors.js';
import { invalid } from '../errors/invalid.js';
import { requireObject } from '../errors/option_values.js';
import { newEventId } from '../model/event/create_event.js';
import type { Event, NewEvent } from '../model/event/event.js';
import { type EventSnapshot, snapshotEvent } from '../model/event/snapshot.js';
import type { CompositeSessionKey } from '../model/session.js';
import { requireId } from '../model/values/ids.js';
import { parseEventText } from '../storage/stored_events.js';
import { SHARED_SCOPES } from '../state/scope.js';
import { markRaw } from '../members/raw.js';
import type { Notice } from '../model/notice.js';
import { eventKey, type EventRecord, type Operation } from './records/records.js';
import type { Fetch } from './copies/fetch.js';
import type { Lists } from './copies/lists.js';
import { removeCopy } from './copies/copy_writer.js';
import {
  type CacheKey,
  isSession,
  nameOf,
  takeCacheKey,
  takeSessionKey,
} from './records/cache_key.js';
import type { CacheTransaction } from './data/cache_transaction.js';
import type { LocalData } from './data/local_data.js';
import type { Pending } from './data/pending.js';
import type { CacheFailure } from './records/status.js';
import { renumber } from './sending/landing.js';
import type { Sender } from './sending/sender.js';
import { withoutKeys } from './sending/strip.js';
import { withoutPrevious } from './storage/deletion.js';
import { deltaOf, sharedWrites } from './view/shared_overlay.js';

/**
 * What waits for the remote in one session or shared state, or was set aside because the remote refused it.
 *
 * @example
 * ```ts
 * import type { OutboxEntry } from 'adk-session-wasm/cache';
 *
 * const line = ({ key, error, events }: OutboxEntry) =>
 *   `${key.sessionId}: ${events.length} events ${error ? `refused: ${error.message}` : 'wait'}`;
 * ```
 */
export interface OutboxEntry {
  /** The session or the shared state. */
  readonly key: CacheKey;
  /** The unsent events, in order. */
  readonly events: readonly Event[];
  /** Why the remote refused the first change of the entry for good. Absent while it waits. */
  readonly error?: CacheFailure & {
    /** The event that was refused. Absent if something else was. */
    readonly eventId?: string;
  };
}

/**
 * The changes that the remote has not confirmed. What it refuses for good is set aside with the reason, and blocks only
 * its own session.
 *
 * @example
 * ```ts
 * import type { CachedSessionService } from 'adk-session-wasm/cache';
 *
 * async function dropRefused({ outbox }: CachedSessionService): Promise<void> {
 *   for (const { key, error } of await outbox.list()) {
 *     if (error) await outbox.drop(key, error.eventId);
 *   }
 * }
 * ```
 */
export interface CacheOutbox {
  /** Lists what waits and what was set aside; with a key only that of one session or state. */
  list(key?: CacheKey): Promise<OutboxEntry[]>;
  /**
   * Sends again what was set aside: of one session or state, or everything. An event that was refused because it replaces
   * a newer version then replaces that one. Resolves once it is queued.
   */
  retry(key?: CacheKey): Promise<void>;
  /**
   * Gives up an unsent event, or everything unsent of a session or state. The copy then follows the remote. A session
   * that the remote does not have is deleted.
   *
   * @throws SessionError `not_found` if the event does not wait
   */
  drop(key: CacheKey, eventId?: string): Promise<void>;
  /**
   * Replaces an unsent event by one with the same id, and sends the session again.
   *
   * @throws SessionError `not_found` if the event does not wait; `stale_session` if it was sent and the answer is missing;
   *   `invalid_argument`, `unserializable`
   */
  change(key: CompositeSessionKey, event: NewEvent & { id: string }): Promise<void>;
}

export interface OutboxParts {
  readonly data: LocalData;
  readonly pending: Pending;
  readonly fetch: Fetch;
  readonly lists: Lists;
  readonly sender: Sender;
  readonly clock: () => number;
  readonly publish: (notices: readonly Notice[]) => void;
  readonly report: (error: unknown) => void;
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The outbox of a cache, as its users see it. */
export class Outbox implements CacheOutbox {
  static {
    markRaw(this.prototype);
  }

  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  list(given?: CacheKey): Promise<OutboxEntry[]> {
    const { data, run } = this.#parts;
    return run(async () => {
      const key = given === undefined ? undefined : takeCacheKey(given);
      if (key !== undefined) return [entryOf(key, await data.operations(key))].filter(hasContent);
      const all = await data.read((transaction) => transaction.operationsBelow({}));
      return [...all.values()]
        .map((operations) => entryOf(operations[0]!.key, operations))
        .filter(hasContent);
    });
  }

  retry(given?: CacheKey): Promise<void> {
    const { pending, run } = this.#parts;
    return run(async () => {
      await pending.scan();
      const names = given === undefined ? pending.names() : [nameOf(takeCacheKey(given))];
      for (const name of names) {
        const refused = pending.operations(name).find(({ refusal }) => refusal !== undefined);
        if (refused === undefined) continue;
        await this.#edit(refused.key, async (transaction, operations) => {
          const put = operations
            .filter(({ refusal }) => refusal !== undefined)
            .map((operation) => retried(operation));
          await transaction.changeOperations(refused.key, { put });
          return undefined;
        });
      }
    });
  }

  drop(given: CacheKey, eventId?: string): Promise<void> {
    const { fetch, lists, report, run } = this.#parts;
    return run(async () => {
      const key = takeCacheKey(given);
      const isChosen = ({ event, creation }: Operation): boolean =>
        eventId === undefined ||
        event?.id === eventId ||
        creation?.events.some(({ id }) => id === eventId) === true;
      if (isSession(key) && (await this.#dropDamaged(key))) return fetch.copy(key).catch(report);
      await this.#edit(key, (transaction, operations) => {
        const chosen = operations.filter(
          (operation) => operation.landed === undefined && isChosen(operation),
        );
        if (eventId !== undefined) requireWaiting(chosen, eventId);
        return dropOperations(transaction, key, operations, chosen, eventId);
      });
      const fetched = isSession(key) ? fetch.copy(key) : lists.fetchState(key);
      await fetched.catch(report);
    });
  }

  change(given: CompositeSessionKey, event: NewEvent & { id: string }): Promise<void> {
    const { clock, run } = this.#parts;
    return run(async () => {
      const key = takeSessionKey(given);
      requireObject('event', event);
      const changed = { ...event } as Event;
      requireId('event.id', changed.id);
      if (changed.partial) throw invalid('event', 'must not be partial: it is not stored');
      const snapshot = snapshotEvent(changed, clock, newEventId);
      await this.#edit(key, (transaction, operations) =>
        changeEvent(transaction, key, operations, snapshot),
      );
    });
  }

  /** Gives up a session whose record is damaged. @returns whether it was */
  async #dropDamaged(key: CompositeSessionKey): Promise<boolean> {
    const { data } = this.#parts;
    try {
      await data.read((transaction) => transaction.session(key));
      return false;
    } catch (error) {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      await data.write((transaction) => transaction.deleteDamaged(key));
      return true;
    }
  }

  /** Changes operations, and sends what is left. */
  async #edit(
    key: CacheKey,
    work: (
      transaction: CacheTransaction,
      operations: readonly Operation[],
    ) => Promise<Notice | undefined>,
  ): Promise<void> {
    const { data, sender, publish } = this.#parts;
    const notice = await data.write(async (transaction) => {
      const record = isSession(key) ? await transaction.session(key) : undefined;
      const notice = await work(transaction, await transaction.operations(key, record));
      if (isSession(key)) await touch(transaction, key);
      return notice;
    });
    const present = await data.read(async (transaction) =>
      isSession(key) ? (await transaction.view(key))?.revision : undefined,
    );
    if (notice !== undefined) publish([notice]);
    else if (isSession(key) && present !== undefined) {
      publish([{ type: 'appended', ...key, revision: present, scopes: [] }]);
    }
    sender.wake();
  }
}

function entryOf(key: CacheKey, operations: readonly Operation[]): OutboxEntry {
  const texts = new Map<string, string>();
  const waiting = operations.filter(({ landed }) => landed === undefined);
  for (const { event, creation } of waiting) {
    for (const { id, text } of creation?.events ?? []) texts.set(id, text);
    if (event !== undefined) texts.set(event.id, event.text);
  }
  const events = [...texts.values()]
    .map((text) => parseEventText(text))
    .filter((event) => event !== undefined);
  const error = waiting.find(({ refusal }) => refusal !== undefined)?.refusal;
  const isEmpty = waiting.length === 0;
  return { key: isEmpty ? EMPTY : key, events, ...(error && { error }) };
}

/** The key of an entry without anything that waits. */
const EMPTY: CacheKey = { appName: '' };

function hasContent({ key }: OutboxEntry): boolean {
  return key !== EMPTY;
}

function requireWaiting(chosen: readonly Operation[], eventId: string): void {
  if (chosen.length > 0) return;
  const message = `Event ${JSON.stringify(eventId)} does not wait for the remote.`;
  throw new SessionError('not_found', message, { key: 'eventId' });
}

/** What was sent, and whose answer is missing, may have been stored. */
function requireAnswered(operations: readonly Operation[]): void {
  if (operations.every(({ attempts }) => attempts === 0)) return;
  const message =
    'The change was sent, and its answer is missing. Append the event again, or wait until the remote answers.';
  throw new SessionError('stale_session', message, { storage: 'cache' });
}

function retried(operation: Operation): Operation {
  const { expected } = operation;
  // The event may replace whatever version there is.
  const isBound = expected !== undefined && expected !== null;
  const any = isBound ? { expected: Number.MAX_SAFE_INTEGER, isBound } : {};
  return { ...operation, refusal: undefined, attempts: 0, ...any };
}

/** Shows handles that the session is another than they know, so that they get its state. */
async function touch(transaction: CacheTransaction, key: CompositeSessionKey): Promise<void> {
  const record = await transaction.session(key);
  if (record === undefined) return;
  const { copy } = record;
  const tick = transaction.tick();
  await transaction.putSession(key, { ...record, tick });
  if (copy === undefined || copy.first === copy.next) {
    const operations = await transaction.operations(key, record);
    const last = operations.findLast(({ event }) => event !== undefined);
    if (last === undefined) return;
    const put = [{ ...last, event: { ...last.event!, tick } }];
    return transaction.changeOperations(key, { put });
  }
  const session = transaction.keyOf(key);
  const entry = eventKey(session, copy.next - 1);
  const last = (await transaction.local.get('events', entry)) as EventRecord;
  if (last.tick > record.birth)
    await transaction.local.delete('events', [...session, 't', last.tick]);
  await transaction.local.put('events', entry, { ...last, tick });
  await transaction.local.put('events', [...session, 't', tick], copy.next - 1);
}

async function dropOperations(
  transaction: CacheTransaction,
  key: CacheKey,
  operations: readonly Operation[],
  chosen: readonly Operation[],
  eventId: string | undefined,
): Promise<Notice | undefined> {
  // An event of a creation leaves it; the creation stays.
  const isPart = ({ creation }: Operation): boolean =>
    eventId !== undefined && creation !== undefined;
  const removed = chosen.filter((operation) => !isPart(operation));
  const rest = operations.filter((operation) => !removed.includes(operation));
  const put = rest.map((operation) => {
    const { creation } = withoutPrevious(operation, removed);
    const changed = withoutPrevious(operation, removed);
    if (creation === undefined || !chosen.includes(operation)) return changed;
    const events = creation.events.filter(({ id }) => id !== eventId);
    const dropped = { ...creation, events };
    return {
      ...changed,
      refusal: undefined,
      creation: dropped,
      shared: sharedOf(dropped),
    };
  });
  const changed = put.filter((operation, index) => operation !== rest[index]);
  await transaction.changeOperations(key, { put: changed, removed });
  if (!isSession(key)) return undefined;
  const record = await transaction.session(key);
  const isGone = removed.some(
    ({ refusal, kind }) => refusal?.code === 'not_found' || kind === 'create',
  );
  const mayBeEmpty = isGone || record?.copy === undefined;
  if (record === undefined || !mayBeEmpty || (eventId !== undefined && put.length > 0))
    return undefined;
  const left = await transaction.operations(key, record);
  if (left.length > 0 || (record.copy !== undefined && !isGoneCopy(removed))) return undefined;
  const notice = await removeCopy(transaction, key);
  return notice;
}

/** Whether operations were refused because the session of the copy is gone. */
function isGoneCopy(removed: readonly Operation[]): boolean {
  return removed.some(({ refusal }) => refusal?.code === 'not_found');
}

function sharedOf(creation: NonNullable<Operation['creation']>): Operation['shared'] {
  const { state, delta, events, sharesState } = creation;
  const own = [
    JSON.parse(state) as Record<string, unknown>,
    ...events.map(({ text }) => deltaOf(text)),
  ];
  return sharedWrites([...(sharesState ? own : []), JSON.parse(delta) as Record<string, unknown>]);
}

/**
 * Replaces an event, in all its unsent versions. The operation and those behind it get new numbers: a request with the old text that arrives late must
 * not count as this one. Older values of shared keys stay older than those that others have written since.
 */
async function changeEvent(
  transaction: CacheTransaction,
  key: CompositeSessionKey,
  operations: readonly Operation[],
  { id, text, timestamp }: EventSnapshot,
): Promise<undefined> {
  const isVersion = ({ event, creation, landed }: Operation): boolean =>
    landed === undefined &&
    (event?.id === id || creation?.events.some((each) => each.id === id) === true);
  const versions = operations.filter(isVersion);
  const [operation, ...laterVersions] = versions;
  requireWaiting(versions, id);
  requireAnswered(versions);
  const index = operations.indexOf(operation!);
  const { creation, event } = operation!;
  const tick = transaction.tick();
  const changed =
    creation === undefined
      ? {
          ...operation!,
          event: { ...event!, text, timestamp, tick },
          shared: sharedWrites([deltaOf(text)]),
        }
      : {
          ...operation!,
          creation: {
            ...creation,
            events: creation.events.map((each) =>
              each.id === id ? { ...each, text, timestamp, tick } : each,
            ),
          },
        };
  const behind = operations
    .slice(index + 1)
    .filter((other) => !laterVersions.includes(other))
    .map((other) => withoutPrevious(other, laterVersions));
  const own: Operation = {
    ...changed,
    refusal: undefined,
    ...(changed.creation && { shared: sharedOf(changed.creation) }),
  };
  const first = await withoutOvertaken(transaction, own);
  const rest: Operation[] = [];
  for (const other of behind) rest.push(await withoutOvertaken(transaction, other));
  const put = renumber(transaction, [first, ...rest]);
  await transaction.changeOperations(key, { put, removed: operations.slice(index) });
  return undefined;
}

/** Removes the values of shared keys that others have written since. */
async function withoutOvertaken(
  transaction: CacheTransaction,
  operation: Operation,
): Promise<Operation> {
  let result = operation;
  const own = await transaction.operations(operation.key, undefined);
  const numbers = new Set(own.map(({ number }) => number));
  for (const scope of SHARED_SCOPES) {
    if (result.shared[scope] === undefined) continue;
    const owner = ownerOf(scope, operation.key);
    const later = (await transaction.sharedWrites(owner)).filter(
      ({ number, isRefused }) => number > operation.number && !numbers.has(number) && !isRefused,
    );
    const keys = new Set(later.flatMap(({ values }) => values.map(([key]) => key)));
    const isCleared = later.some((write) => write.isCleared);
    if (keys.size > 0 || isCleared) {
      result = withoutKeys(result, scope, (name) => isCleared || keys.has(name));
    }
  }
  return result;
}
