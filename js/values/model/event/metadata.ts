/** The members that this package alone adds to the metadata of events. */
import { isPlainObject } from '../../json/rules.js';
import { newEventId } from './create_event.js';
import type { Event } from './event.js';
import type { EventSnapshot } from './snapshot.js';

/**
 * The member of a stored event's `customMetadata` by which the append of a run's message recognises itself when it is
 * repeated. `src/wasm/bindings/appends.rs` has it too. google-adk's own keys begin so too; clients neither set nor see
 * them. A server gives the mark of the run as the key, and a page a random id, which is no mark.
 */
const IDEMPOTENCY_KEY = '__adk_internal_run';

/** Returns the snapshot of a message with the idempotency key of its run. Only the stored text has it. */
export function withIdempotencyKey(snapshot: EventSnapshot, key: string): EventSnapshot {
  const event = JSON.parse(snapshot.text) as Event;
  const { customMetadata } = event;
  const metadata = isPlainObject(customMetadata) ? customMetadata : {};
  event.customMetadata = { ...metadata, [IDEMPOTENCY_KEY]: key };
  return { ...snapshot, text: JSON.stringify(event) };
}

/** Removes the idempotency key from an event that was parsed for a reader, and notes it if it is a mark. */
export function withoutIdempotencyKey(event: Event): Event {
  const metadata: unknown = event.customMetadata;
  if (!isPlainObject(metadata) || !Object.hasOwn(metadata, IDEMPOTENCY_KEY)) return event;
  const mark = parseMark(metadata[IDEMPOTENCY_KEY]);
  if (mark !== undefined) marks.set(event, mark);
  delete metadata[IDEMPOTENCY_KEY];
  if (Object.keys(metadata).length === 0) delete event.customMetadata;
  return event;
}

/** What the mark of a message tells of the server's run that answers it. */
export interface RunMark {
  /** Names the start of the process that runs the message; see `ServerRunId`. */
  readonly start: string;
  /** How many messages that start had admitted, with this one. */
  readonly number: number;
  /** The server's time in milliseconds when it admitted the message. */
  readonly began: number;
  /** Whether that start answers on a channel. */
  readonly hasChannel: boolean;
}

const MARK = /^([\w-]+)\/(\d{1,15})\/(\d{1,15})\/([01])\/[\w-]+$/;

/** By event as it was read. */
const marks = new WeakMap<Event, RunMark>();

/** Returns the text of a mark, `<start>/<number>/<began>/<0 or 1>/<nonce>`, which no other append has. */
export function textOfMark({ start, number, began, hasChannel }: RunMark): string {
  return [start, number, began, hasChannel ? 1 : 0, newEventId()].join('/');
}

/** Returns the mark of a text; `undefined` if the text is none. */
export function parseMark(text: unknown): RunMark | undefined {
  const [, start, number, began, channel] =
    (typeof text === 'string' ? MARK.exec(text) : null) ?? [];
  if (start === undefined) return undefined;
  return { start, number: Number(number), began: Number(began), hasChannel: channel === '1' };
}

/** Returns the mark of an event that this realm has read from its storage. A copy of the event has none. */
export function runMarkOf(event: Event): RunMark | undefined {
  return marks.get(event);
}

/** The member of `customMetadata` under which `adk api_server` keeps the id that a page has given its message. */
export const PAGE_MESSAGE = 'adk_session_wasm_message';

/** Returns the id that a page has given a message which `adk api_server` has stored under an id of its own. */
export function pageMessageOf({ author, customMetadata }: Event): string | undefined {
  // The agent's events have the member too.
  const id = author === 'user' ? customMetadata?.[PAGE_MESSAGE] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The member of `customMetadata` in which the event of a run that has failed keeps the codes of what was thrown. */
export const RUN_ERROR = 'adk_session_wasm_error';
