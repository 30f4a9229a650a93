import type { CompositeSessionKey } from '../../../values/model/session.js';
import { carryOut } from '../data/carry_out.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import type { CopyEvents } from '../data/copy_records.js';
import { foldOf } from '../data/mutation_memory.js';
import type { Copy, EventRecord, SessionRecord } from '../records/records.js';
import type { EventNumbers, Mutation } from '../outbox/mutation.js';
import { rewindTargetOf } from '../../../values/model/event/markers.js';
import type { RewindStart } from '../../../core/read.js';
import { parseEventText } from '../../../core/storage/stored_events.js';
import type { ChangedEvent, OlderEvents, RemoteEvent } from './remote_connection.js';
import type { OverlayEvent, SessionOverlay } from '../overlay/session_overlay.js';

/** A copy while a transaction puts events of the remote into it, and gives them local numbers. */
export class CopyDraft {
  copy: Copy;
  /** Whether a reader sees another event than before. */
  isChanged = false;
  /** Whether events of others came before events of this device. */
  #isReordered = false;
  readonly #transaction: CacheTransaction;
  readonly #key: CompositeSessionKey;
  readonly #record: SessionRecord;
  readonly #overlay: SessionOverlay;
  readonly #events: CopyEvents;

  private constructor(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
    record: SessionRecord,
    copy: Copy,
    mutations: readonly Mutation[],
  ) {
    this.copy = copy;
    this.#transaction = transaction;
    this.#key = key;
    this.#record = record;
    this.#overlay = foldOf(record.localId, mutations);
    this.#events = transaction.copies.events(key);
  }

  /** Makes the draft of a copy under the mutations of its session. */
  static async of(
    transaction: CacheTransaction,
    key: CompositeSessionKey,
    record: SessionRecord,
    copy: Copy,
  ): Promise<CopyDraft> {
    return new CopyDraft(transaction, key, record, copy, await transaction.outbox.of(key));
  }

  /** Puts events that have changed since the copy's revision, in the order of their `seq`. */
  async putChanged(events: readonly ChangedEvent[]): Promise<void> {
    const since = this.copy.revision;
    this.#noteOrder(events);
    for (const event of [...events].sort((one, other) => one.seq - other.seq)) {
      if (event.revision > since) this.#noteRewind(event, event.revision);
      // A copy has no events that came to the remote after its revision.
      const isNew = event.seq > since;
      const position = isNew ? undefined : await this.#events.positionOf(event.id);
      if (position !== undefined) await this.#replace(position, event);
      else if (isNew) await this.#append(event);
      // An SQL database also lists events that have not changed.
      else if (event.revision > since) this.#noteReplacedOlder();
    }
  }

  #noteRewind({ text }: RemoteEvent, revision: number): void {
    if (!isRewind(text)) return;
    const { rewoundAt = 0 } = this.copy;
    this.copy = { ...this.copy, rewoundAt: Math.max(rewoundAt, revision) };
  }

  /** Notes that an event before the copy was replaced. Its new invocation may be one at which a rewind starts. */
  #noteReplacedOlder(): void {
    const { rewindStarts = [], isStale } = this.copy;
    this.copy = { ...this.copy, isStale: isStale || rewindStarts.length > 0 };
  }

  /** Notes if events of others come while this device has mutations with events: the remote's order then counts. */
  #noteOrder(events: readonly RemoteEvent[]): void {
    const own = this.#overlay.events;
    this.#isReordered ||=
      own.size > 0 && events.some(({ id, text }) => !hasText(own.get(id), text));
  }

  async #replace(position: number, event: ChangedEvent): Promise<void> {
    const { id, text, timestamp, revision } = event;
    const stored = await this.#events.at(position);
    // The answer is late: the copy has a newer version.
    if (stored.isExact && revision < stored.revision) return;
    // A page of older events may have brought this text before the copy had the state that the event makes.
    const isNews = text !== stored.text || revision > this.copy.revision;
    const numbers = isNews ? this.#numbersOf(event, stored, true) : stored;
    const size = this.copy.size + text.length - stored.text.length;
    this.copy = { ...this.copy, size };
    const { seq, localVersion } = numbers;
    await this.#put(
      position,
      { id, text, timestamp, seq, localVersion, revision, isExact: true },
      stored,
    );
  }

  async #append(event: ChangedEvent): Promise<void> {
    const { id, text, timestamp, revision } = event;
    const numbers = this.#numbersOf(event, undefined, event.seq !== revision);
    const { next, size } = this.copy;
    this.copy = { ...this.copy, next: next + 1, size: size + text.length };
    await this.#put(next, { id, text, timestamp, ...numbers, revision, isExact: true });
  }

  /**
   * Returns the local numbers of an event that brings news, and notes whether a reader sees another event than before.
   *
   * | the event                  | the copy has it | `seq`      | `localVersion`                            |
   * | -------------------------- | --------------- | ---------- | ----------------------------------------- |
   * | is as this device wrote it | no              | its own    | its own                                   |
   * | is as this device wrote it | yes             | the copy's | the higher one of its own and the copy's  |
   * | is another's               | no              | new        | equal to `seq`; if it was edited a higher one |
   * | is another's               | yes             | the copy's | new                                       |
   *
   * If events of others came before those of this device, all count as another's.
   *
   * Events that bring no news keep what they have. Those that were here before any handle have the local id for both,
   * so that no handle takes them for changes.
   *
   * @param stored the event in the copy
   * @param isEdited whether the event was written again. Its numbers then differ, and a handle that lacks it gets the
   *   whole state.
   */
  #numbersOf(
    { id, text }: RemoteEvent,
    stored: EventNumbers | undefined,
    isEdited: boolean,
  ): EventNumbers {
    const over = this.#overlay.events.get(id);
    const isOwn = hasText(over, text);
    if (!isOwn) this.isChanged = true;
    if (isOwn && !this.#isReordered) {
      const { seq, localVersion } = over;
      // Handles must still notice a change after the mutation, so a higher number stays.
      return stored === undefined
        ? { seq, localVersion }
        : { seq: stored.seq, localVersion: Math.max(localVersion, stored.localVersion) };
    }
    const seq = stored?.seq ?? this.#transaction.nextNumber();
    const isLater = stored !== undefined || isEdited || (isOwn && over.seq !== over.localVersion);
    return { seq, localVersion: isLater ? this.#transaction.nextNumber() : seq };
  }

  /** Gives an event another local number, as if it was written again: handles then get the whole state. */
  async renumber(id: string): Promise<void> {
    const position = await this.#events.positionOf(id);
    if (position === undefined) return;
    const stored = await this.#events.at(position);
    await this.#put(position, { ...stored, localVersion: this.#transaction.nextNumber() }, stored);
    this.isChanged = true;
  }

  #put(position: number, event: EventRecord, earlier?: EventRecord): Promise<void> {
    return this.#events.put(position, event, this.#record.localId, earlier);
  }

  /**
   * Replaces the events by the newest ones of the remote, which may reach further back.
   *
   * @param isNew whether no handle has any of them, because the session was not here before
   */
  async putWindow(events: readonly RemoteEvent[], isNew: boolean): Promise<void> {
    const { first, next } = this.copy;
    const { localId } = this.#record;
    const stored = new Map(
      (await this.#events.between(first, next)).map((each) => [each.id, each]),
    );
    const firstKnown = events.findIndex(({ id }) => stored.has(id));
    const isNews = ({ id, text }: RemoteEvent, index: number): boolean => {
      const known = stored.get(id);
      return known === undefined ? !isNew && index >= firstKnown : known.text !== text;
    };
    this.#noteOrder(events.filter(isNews));
    if (stored.size > 0) await this.#events.clear();
    this.copy = { ...this.copy, first: 0, next: 0, size: 0 };
    for (const [index, event] of events.entries()) {
      const { id, text, timestamp } = event;
      const known = stored.get(id);
      const revision = event.revision ?? this.copy.revision;
      const isExact = event.revision !== undefined;
      let { seq, localVersion } = known ?? { seq: localId, localVersion: localId };
      if (isNews(event, index)) {
        this.#noteRewind(event, revision);
        // A whole session does not tell which events were written again.
        ({ seq, localVersion } = this.#numbersOf(event, known, true));
      }
      const isSame = known?.text === text && known.isExact && !isExact;
      const numbers = isSame ? { revision: known.revision, isExact: true } : { revision, isExact };
      await this.#put(index, { id, text, timestamp, seq, localVersion, ...numbers });
      this.copy = { ...this.copy, next: index + 1, size: this.copy.size + text.length };
    }
  }

  /**
   * Puts events before those of the copy. They get the local id as their numbers, so no handle takes them for changes.
   */
  async putOlder({ events, hasOlder, rewindStarts }: OlderEvents): Promise<void> {
    const { localId } = this.#record;
    for (const older of [...events].reverse()) {
      const { id, text, timestamp } = older;
      if ((await this.#events.positionOf(id)) !== undefined) continue;
      const { first, size, revision } = this.copy;
      this.copy = { ...this.copy, first: first - 1, size: size + text.length };
      const event = {
        id,
        text,
        timestamp,
        seq: localId,
        localVersion: localId,
        revision,
        isExact: false,
      };
      await this.#put(first - 1, event);
    }
    this.copy = withStarts({ ...this.copy, hasOlder }, rewindStarts);
  }

  /**
   * Stores the copy.
   *
   * If events of others came before unsent ones, the unsent ones get new local numbers. Otherwise an open handle would
   * apply the deltas of the others last.
   *
   * @returns the revision that readers see by now
   */
  async store(): Promise<number> {
    const { copy, isChanged } = this;
    await this.#events.store();
    const record = this.#record;
    const transaction = this.#transaction;
    const key = this.#key;
    if (isChanged) transaction.nextNumber();
    const localVersion = Math.max(
      record.localVersion,
      this.#overlay.localVersion,
      isChanged ? transaction.counter : 0,
    );
    const confirmedAt = record.copy === undefined ? transaction.nextNumber() : record.confirmedAt;
    await transaction.copies.put(key, { ...record, copy, localVersion, confirmedAt });
    if (!this.#isReordered) return localVersion;
    const mutations = await transaction.outbox.of(key);
    const written = mutations.filter(({ numbers }) => numbers.length > 0);
    const numbers = new Map(
      written.map((each) => [each.number, newVersions(transaction, each)] as const),
    );
    await carryOut(transaction, key, { type: 'renumbered', numbers });
    return transaction.counter;
  }
}

/** Returns whether the text is that of a rewind. */
export function isRewind(text: string): boolean {
  const event = text.includes('rewindBeforeInvocationId') ? parseEventText(text) : undefined;
  return event !== undefined && rewindTargetOf(event) !== undefined;
}

/** Returns a copy with the starts of further rewinds. They replace the known starts of the same invocations. */
export function withStarts(copy: Copy, starts: readonly RewindStart[] = []): Copy {
  const { hasOlder, rewindStarts: before = [] } = copy;
  const all = new Map([...before, ...starts].map((start) => [start.invocationId, start]));
  return { ...copy, rewindStarts: hasOlder && all.size > 0 ? [...all.values()] : undefined };
}

/** Whether the text is one of those that mutations of this device have given the event. */
function hasText(over: OverlayEvent | undefined, text: string): over is OverlayEvent {
  return over?.texts.includes(text) === true;
}

function newVersions(transaction: CacheTransaction, { numbers }: Mutation): EventNumbers[] {
  return numbers.map(({ seq, localVersion: before }) => {
    const localVersion = transaction.nextNumber();
    return { seq: seq === before ? localVersion : seq, localVersion };
  });
}
