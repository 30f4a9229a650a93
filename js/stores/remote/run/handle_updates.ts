import { KeyedQueue } from '../../../core/call/keyed_queue.js';
import { copyJson } from '../../../values/json/copy.js';
import { rewindTargetOf } from '../../../core/history/marks.js';
import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import { indexOfId, putEvent } from '../../../core/handle/event_index.js';
import { setMember } from '../../../values/members/member.js';
import type { Event } from '../../../values/model/event/event.js';
import { isPartial } from '../../../values/model/event/snapshot.js';
import { isTemp } from '../../../values/state/scope.js';
import { hasUnstoredWrite } from '../../../values/state/write_order.js';
import type { ReadSession } from '../../../core/read.js';
import { writeKey } from '../../../values/state/keys.js';
import type { RunHandle } from './run_request.js';

/** The changes of each handle, by its state: two runs may change one handle at once. */
const handleChanges = new KeyedQueue<object>();

/**
 * Brings the events of a run into a handle, in the server's order.
 *
 * The stream lacks the user's message, and events that others store meanwhile. So the stored session is read at the
 * first event and after the last one. In between, an event is added if it can only be the last one; otherwise the
 * session is read again.
 */
export class HandleUpdates {
  readonly #handle: RunHandle;
  readonly #read: () => Promise<ReadSession | undefined>;
  /** Whether the handle has the message. */
  #isRead = false;
  /** The ids of events that came from the stream and were not read since. */
  readonly #streamed = new Set<string>();

  /** @param read reads the whole session */
  constructor(handle: RunHandle, read: () => Promise<ReadSession | undefined>) {
    this.#handle = handle;
    this.#read = read;
  }

  /** Gives the handle an event of the stream. */
  add(event: Event): Promise<void> {
    return this.#inTurn(() => this.#add(event));
  }

  /** Gives the handle what the server has. */
  finish(): Promise<void> {
    return this.#inTurn(() => this.#readAll());
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    return handleChanges.run(this.#handle.session.state, change);
  }

  async #add(event: Event): Promise<void> {
    if (!this.#isRead) return this.#readAll();
    if (isPartial(event)) return;
    const { events, given } = this.#handle.session;
    const isKnown = indexOfId(this.#handle.session, event.id) >= 0;
    if (isKnown && !this.#streamed.has(event.id)) return;
    const last = events.at(-1);
    // The server sends an event with artifacts in two parts, with the same id.
    const isLater = last === undefined || event.timestamp > last.timestamp;
    // The delta of a rewind does not give the state.
    const isNext = !isKnown && isLater && rewindTargetOf(event) === undefined;
    if (!isNext) return this.#readAll();
    this.#streamed.add(event.id);
    putEvent(this.#handle.session, event);
    const { stateDelta } = event.actions;
    for (const key of Object.keys(stateDelta)) this.#write(key, copyJson(stateDelta[key]));
    setMember(given, 'lastUpdateTime', event.timestamp);
  }

  async #readAll(): Promise<void> {
    const { session, record } = this.#handle;
    const { state, events, given, id } = session;
    const read = await this.#read();
    if (read === undefined) throw sessionNotFound(id);
    const { lastUpdateTime, state: stateText } = read;
    this.#isRead = true;
    this.#replaceEvents(this.#window(read.events));
    const stored = JSON.parse(stateText) as Record<string, unknown>;
    for (const key of Object.keys({ ...state, ...stored })) this.#write(key, stored[key]);
    if (record.firstEventId === '') record.firstEventId = events[0]?.id ?? '';
    setMember(given, 'lastUpdateTime', lastUpdateTime);
  }

  /** The handle keeps its own values of `temp:` keys and of writes that are not stored. */
  #write(key: string, value: unknown): void {
    const { state } = this.#handle.session;
    if (!isTemp(key) && !hasUnstoredWrite(state, key)) writeKey(state, key, value);
  }

  /** Returns the events from the handle's first one on, or those after it was read if it has none. */
  #window(all: readonly Event[]): readonly Event[] {
    const { session, record } = this.#handle;
    const first = session.events[0];
    if (record.firstEventId === (first?.id ?? '')) return all;
    if (first === undefined) {
      return all.filter(({ timestamp }) => timestamp > session.given.lastUpdateTime);
    }
    const position = all.findIndex(({ id }) => id === first.id);
    return position < 0 ? all : all.slice(position);
  }

  /** Keeps the objects of events that the handle has, except those that the stream may have cut. */
  #replaceEvents(stored: readonly Event[]): void {
    const { events } = this.#handle.session;
    if (!Object.isExtensible(events)) return;
    const known = new Map(events.map((event) => [event.id, event]));
    for (const id of this.#streamed) known.delete(id);
    this.#streamed.clear();
    const current = stored.map((event) => known.get(event.id) ?? event);
    const end = current.findIndex((event, position) => event !== events[position]);
    if (end < 0) {
      events.length = current.length;
      return;
    }
    events.length = end;
    for (const event of current.slice(end)) events.push(event);
  }
}
