import type { CompositeSessionKey, ExpectedEvents } from '../model/session.js';
import type { Description } from '../model/description.js';
import type { EventSnapshot } from '../model/event/snapshot.js';
import { requireRoom } from './core.js';
import { STALE_POLICIES, type StalePolicy } from './protocol.js';

/** The position of a handle when an append begins. */
export interface HandlePosition {
  /** The revision that created the session. NaN: unknown. Below 0: there is no handle. */
  readonly created: number;
  /** The revision of the handle; ignored if `created` is unknown. */
  readonly revision: number;
  /** Identifies the handle's position if `created` is unknown. */
  readonly lastEventId: string | undefined;
}

/** Events to append to one session, all or none. */
export interface Append {
  readonly key: Readonly<CompositeSessionKey>;
  readonly position: HandlePosition;
  readonly stale: StalePolicy;
  /** The revision that the session must have. */
  readonly expectedRevision?: number | undefined;
  readonly events: readonly EventSnapshot[];
  readonly expectedEvents?: ExpectedEvents | undefined;
  readonly titleChange?: TitleChange | undefined;
}

/** A title that takes the place of another one. If the session has a third one, it stays. */
export interface TitleChange {
  /** The title that the session must have. Empty: it must have none. */
  readonly from: string;
  readonly to: string;
}

/** Returns the change that gives a title to a session without one. */
export function firstTitle(to: string | undefined): TitleChange | undefined {
  return to === undefined ? undefined : { from: '', to };
}

/** A session to create. The deltas of its events change its state, in order. */
export interface NewSession {
  readonly key: Readonly<CompositeSessionKey>;
  /** A JSON object with the keys of all scopes. */
  readonly state: string;
  readonly events: readonly EventSnapshot[];
  /** A JSON object: changes that no event carries. They follow the events' deltas, and are stored in all scopes. */
  readonly delta: string;
  readonly description: Description;
  /** When a session from elsewhere was last updated, in milliseconds. A later event wins. Absent: `now`. */
  readonly lastUpdateTime: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the `user:` and `app:` keys of the state and of the events are stored. */
  readonly sharesState: boolean;
}

/** Computes a delta from the JSON text of a state. Never throws. */
export type Compute = (state: string) => Computed;

/** A delta that was computed, and the event that stores it, if one does. */
export interface Computed {
  /** JSON text. */
  readonly delta: string;
  /** JSON text. */
  readonly event?: string | undefined;
}

/** Packs what is computed into one text, which `compute_delta` in `src/wasm/bindings/computed.rs` splits. */
export function packComputed(
  compute: Compute | undefined,
): ((state: string) => string) | undefined {
  if (compute === undefined) return undefined;
  return (state) => {
    const { delta, event = '' } = compute(state);
    // JSON text never contains a NUL.
    return `${delta}\0${event}`;
  };
}

/** Packed appends on their way into the wasm; see `src/wasm/bindings/appends.rs`. */
export interface PackedAppends {
  /**
   * For each append its names, the id of the handle's last event, the title that is replaced and the new one, then for
   * each event its id, the JSON text of its delta and, if they are packed,
   * its texts.
   */
  readonly packed: string;
  /** For each append its numbers, then those of each event. */
  readonly numbers: number[];
  /**
   * For each event its JSON text, and the text with superseded keys, if any. Absent if the texts
   * are packed.
   */
  readonly texts: (string | undefined)[] | undefined;
}

/**
 * Packs a creation like an append: `created` is the time of the session's last update, and `revision` the time now. The
 * state of the session depends on the markers among its events, whether the storage keeps their marks or not.
 */
export function packCreation(session: NewSession, hasTexts: boolean): PackedAppends {
  const { key, events, now, lastUpdateTime = NaN } = session;
  const position = { created: lastUpdateTime, revision: now, lastEventId: undefined };
  return packAppends([{ key, position, stale: 'append', events }], hasTexts, true);
}

/**
 * Packs appends into one string, because each string that enters the wasm has a fixed cost.
 *
 * @param hasTexts whether to pack the texts, for a store that keeps them in the wasm
 * @param keepsMarks whether the storage keeps marks of markers
 * @throws SessionError `quota_exceeded` if the wasm has no room for them
 */
export function packAppends(
  appends: readonly Append[],
  hasTexts: boolean,
  keepsMarks: boolean,
): PackedAppends {
  let [deltaUnits, textUnits] = [0, 0];
  for (const { events } of appends) {
    for (const { deltaText, text, whole } of events) {
      deltaUnits += deltaText.length;
      if (hasTexts) textUnits += text.length + (whole?.length ?? 0);
    }
  }
  requireRoom(deltaUnits, textUnits);
  const numbers: number[] = [];
  const texts: (string | undefined)[] | undefined = hasTexts ? undefined : [];
  let packed = '';
  for (const append of appends) {
    const { key, position, stale, expectedRevision = NaN, events, expectedEvents } = append;
    const { from, to } = append.titleChange ?? NO_TITLE;
    const { appName, userId, sessionId } = key;
    const { created, revision, lastEventId } = position;
    const last = Number.isNaN(created) ? (lastEventId ?? '') : '';
    packed += appName + userId + sessionId + last + from + to;
    numbers.push(appName.length, userId.length, sessionId.length, last.length);
    numbers.push(
      from.length,
      to.length,
      created,
      revision,
      STALE_POLICIES[stale],
      expectedRevision,
      events.length,
    );
    for (const { id, timestamp, deltaText, text, whole = '', isMarker } of events) {
      packed += id + deltaText;
      if (texts === undefined) packed += text + whole;
      else texts.push(text, whole);
      numbers.push(id.length, deltaText.length, text.length, whole.length, timestamp);
      numbers.push(expectedEvents === undefined ? NaN : expectedRevisionOf(expectedEvents, id));
      numbers.push(keepsMarks && isMarker ? 1 : 0);
    }
  }
  return { packed, numbers, texts };
}

const NO_TITLE: TitleChange = { from: '', to: '' };

/** Returns the revision of the event that may be replaced; 0 if none may be, NaN if any may be. */
function expectedRevisionOf(expectedEvents: ExpectedEvents, id: string): number {
  return Object.hasOwn(expectedEvents, id) ? (expectedEvents[id] ?? 0) : NaN;
}
