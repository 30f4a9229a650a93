/**
 * Packs what enters the wasm as a list, and unpacks what leaves it as one: where an object would cost much of the call.
 * All other requests and results are objects. The numbers of the lists have their names from
 * `src/wasm/bindings/packed/numbers.rs`.
 */
import type { Description } from '../../../values/model/description.js';
import type { CompositeSessionKey, ExpectedEvents } from '../../../values/model/session.js';
import type { StoredScope } from '../../../values/state/scope.js';
import type { ReadyAppend, Compute, NewSession } from '../../write.js';
import {
  AppendedNumber,
  AppendNumber,
  CreatedNumber,
  CreationNumber,
  DecisionNumber,
  EventNumber,
  FoundNumber,
  PlanNumber,
  ReadNumber,
  requireRoom,
  WrittenNumber,
} from '../../wasm/core.js';
import { SCOPES, STALE_POLICIES } from '../../wasm/protocol.js';
import type {
  Appended,
  CreatedSession,
  EventRevisions,
  MissedEvent,
  UnchangedEvent,
} from '../store.js';

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
   * For each append its names, the id of the handle's last event, the first title, then for
   * each event its id, the JSON text of its delta and, if they are packed, its texts.
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
 * Packs a creation: its own numbers and texts, and then those of an append. The state of the session depends on the
 * markers among its events, whether the storage keeps their marks or not.
 */
export function packCreation(
  session: NewSession & { readonly ifAbsent: boolean },
  hasTexts: boolean,
): PackedAppends {
  const { key, events, state, delta, description, now, lastUpdateTime = NaN } = session;
  const { title, labels, parent, initialState }: Description = description;
  const numbers: number[] = [];
  numbers[CreationNumber.State] = state.length;
  numbers[CreationNumber.Delta] = delta.length;
  numbers[CreationNumber.Title] = title?.length ?? NaN;
  numbers[CreationNumber.Labels] = labels?.length ?? NaN;
  numbers[CreationNumber.Parent] = parent?.length ?? NaN;
  // Mostly it is the state, which is not sent again.
  const initialText = initialState === state ? '' : initialState;
  numbers[CreationNumber.InitialState] = initialText?.length ?? NaN;
  numbers[CreationNumber.LastUpdateTime] = lastUpdateTime;
  numbers[CreationNumber.Now] = now;
  numbers[CreationNumber.SharesState] = session.sharesState ? 1 : 0;
  numbers[CreationNumber.IfAbsent] = session.ifAbsent ? 1 : 0;
  let packed = state + delta;
  for (const text of [title, labels, parent, initialText]) {
    if (text !== undefined) packed += text;
  }
  requireRoom(packed.length);
  // A creation carries its events as an append does, without a handle.
  const append = {
    kind: 'append',
    key,
    position: { kind: 'latest' },
    stale: 'append',
    events,
  } as const;
  return packAppends([append], hasTexts, true, { packed, numbers });
}

/** A read of a session on its way into the wasm. */
export interface PackedRead {
  readonly names: string;
  readonly numbers: number[];
}

/**
 * @param last how many of the last events to read; absent: all
 * @param after the time from which events are read
 * @param since the revision after which events were written
 */
export function packRead(
  { appName, userId, sessionId }: Readonly<CompositeSessionKey>,
  last = NaN,
  after = NaN,
  since = NaN,
): PackedRead {
  const numbers: number[] = [];
  numbers[ReadNumber.AppName] = appName.length;
  numbers[ReadNumber.UserId] = userId.length;
  numbers[ReadNumber.SessionId] = sessionId.length;
  numbers[ReadNumber.Last] = last;
  numbers[ReadNumber.After] = after;
  numbers[ReadNumber.Since] = since;
  return { names: appName + userId + sessionId, numbers };
}

/**
 * Packs appends into one string, because each string that enters the wasm has a fixed cost.
 *
 * @param hasTexts whether to pack the texts, for a store that keeps them in the wasm
 * @param storesMarkerFlags whether the storage stores which events are markers
 * @param before what stands before the appends; they are added to its list
 * @throws SessionError `quota_exceeded` if the wasm has no room for them
 */
export function packAppends(
  appends: readonly ReadyAppend[],
  hasTexts: boolean,
  storesMarkerFlags: boolean,
  before: Pick<PackedAppends, 'packed' | 'numbers'> = { packed: '', numbers: [] },
): PackedAppends {
  let [deltaUnits, textUnits] = [0, 0];
  for (const { events } of appends) {
    for (const { deltaText, text, whole } of events) {
      deltaUnits += deltaText.length;
      if (hasTexts) textUnits += text.length + (whole?.length ?? 0);
    }
  }
  requireRoom(deltaUnits, textUnits);
  const { numbers } = before;
  const texts: (string | undefined)[] | undefined = hasTexts ? undefined : [];
  let { packed } = before;
  for (const append of appends) {
    const { key, position, stale, expectedRevision = NaN, events, expectedEvents } = append;
    const { firstTitle = '' } = append;
    const { appName, userId, sessionId } = key;
    const isKnown = position.kind === 'revision';
    const last = position.kind === 'lastEvent' ? (position.lastEventId ?? '') : '';
    packed += appName + userId + sessionId + last + firstTitle;
    let start = numbers.length;
    numbers[start + AppendNumber.AppName] = appName.length;
    numbers[start + AppendNumber.UserId] = userId.length;
    numbers[start + AppendNumber.SessionId] = sessionId.length;
    numbers[start + AppendNumber.LastEventId] = last.length;
    numbers[start + AppendNumber.FirstTitle] = firstTitle.length;
    numbers[start + AppendNumber.Created] = isKnown
      ? position.created
      : UNKNOWN_CREATED[position.kind];
    numbers[start + AppendNumber.Revision] = isKnown ? position.revision : 0;
    numbers[start + AppendNumber.Policy] = STALE_POLICIES[stale];
    numbers[start + AppendNumber.ExpectedRevision] = expectedRevision;
    numbers[start + AppendNumber.RunRevision] = append.runRevision ?? NaN;
    numbers[start + AppendNumber.EventCount] = events.length;
    start += AppendNumber.Length;
    for (const { id, timestamp, deltaText, text, whole = '', mayBeMarker } of events) {
      packed += id + deltaText;
      if (texts === undefined) packed += text + whole;
      else texts.push(text, whole);
      numbers[start + EventNumber.Id] = id.length;
      numbers[start + EventNumber.Delta] = deltaText.length;
      numbers[start + EventNumber.Text] = text.length;
      numbers[start + EventNumber.Whole] = whole.length;
      numbers[start + EventNumber.Timestamp] = timestamp;
      numbers[start + EventNumber.Replaces] =
        expectedEvents === undefined ? NaN : expectedRevisionOf(expectedEvents, id);
      numbers[start + EventNumber.MayBeMarker] = storesMarkerFlags && mayBeMarker ? 1 : 0;
      start += EventNumber.Length;
    }
  }
  return { packed, numbers, texts };
}

/** Stands for the revision that created the session if that is not known; `position_of` in `appends.rs`. */
const UNKNOWN_CREATED = { lastEvent: NaN, latest: -1 } as const;

/** Returns the revision of the event that may be replaced; 0 if none may be, NaN if any may be. */
function expectedRevisionOf(expectedEvents: ExpectedEvents, id: string): number {
  return Object.hasOwn(expectedEvents, id) ? (expectedEvents[id] ?? 0) : NaN;
}

/** The rows that a write found, but for its events. */
interface FoundRows {
  readonly floor: number;
  readonly session: Readonly<Record<'created' | 'revision' | 'lastUpdateTime', number>>;
  readonly revisions: Readonly<Record<'user' | 'app', number>>;
  readonly states: Readonly<Record<'session' | 'user', string>>;
}

export function packFound({ floor, session, revisions, states }: FoundRows): number[] {
  const numbers: number[] = [];
  numbers[FoundNumber.Floor] = floor;
  numbers[FoundNumber.Created] = session.created;
  numbers[FoundNumber.Revision] = session.revision;
  numbers[FoundNumber.LastUpdateTime] = session.lastUpdateTime;
  numbers[FoundNumber.UserRevision] = revisions.user;
  numbers[FoundNumber.AppRevision] = revisions.app;
  numbers[FoundNumber.SessionState] = states.session.length;
  numbers[FoundNumber.UserState] = states.user.length;
  return numbers;
}

export type PackedAppended = readonly [
  created: number,
  revision: number,
  lastUpdateTime: number,
  userRevision: number,
  appRevision: number,
  details?: AppendDetails,
];

/** The part of the result that most appends do not have; `append_details` in `results.rs`. */
interface AppendDetails extends Pick<Appended, 'since' | 'unchanged' | 'missed' | 'state'> {
  /** Absent if all events are new. */
  readonly eventRevisions: readonly EventRevisions[] | undefined;
}

const NO_UNCHANGED: readonly UnchangedEvent[] = [];
const NO_MISSED: readonly MissedEvent[] = [];

export function unpackAppend(packed: PackedAppended, { position, events }: ReadyAppend): Appended {
  const revision = packed[AppendedNumber.Revision];
  const user = packed[AppendedNumber.UserRevision];
  const app = packed[AppendedNumber.AppRevision];
  const details = packed[AppendedNumber.Details];
  const count = events.length;
  return {
    created: packed[AppendedNumber.Created],
    revision,
    lastUpdateTime: packed[AppendedNumber.LastUpdateTime],
    since: position.kind === 'latest' ? undefined : (details?.since ?? revision - count),
    shared: { user, app },
    unchanged: details?.unchanged ?? NO_UNCHANGED,
    missed: details?.missed ?? NO_MISSED,
    state: details?.state,
    eventRevisions: details?.eventRevisions ?? newRevisions(revision, count),
  };
}

export type PackedCreated = readonly [
  revision: number,
  lastUpdateTime: number,
  userRevision: number,
  appRevision: number,
  hasRest: number,
  state?: string,
];

export function unpackCreated(
  packed: PackedCreated,
  { events, state: given }: Pick<NewSession, 'events' | 'state'>,
): CreatedSession {
  const revision = packed[CreatedNumber.Revision];
  const state = packed[CreatedNumber.State];
  return {
    created: revision - events.length,
    revision,
    lastUpdateTime: packed[CreatedNumber.LastUpdateTime],
    state: packed[CreatedNumber.HasRest] === 1 ? joinObjects(given, state) : state!,
    shared: {
      user: packed[CreatedNumber.UserRevision],
      app: packed[CreatedNumber.AppRevision],
    },
  };
}

/** Returns the text of an object with the members of both, which have no key in common. */
function joinObjects(text: string, rest: string | undefined): string {
  if (rest === undefined) return text;
  return text === '{}' ? rest : `${text.slice(0, -1)},${rest.slice(1)}`;
}

/** The places of new events, which the wasm leaves out. The last one has the session's revision. */
function newRevisions(last: number, count: number): EventRevisions[] {
  const revisions: EventRevisions[] = [];
  for (let later = count - 1; later >= 0; later -= 1) {
    const revision = last - later;
    revisions.push({ seq: revision, revision });
  }
  return revisions;
}

/** The outcome of an append within a group: the result, or the error. */
export interface PackedOutcome {
  readonly appended: PackedAppended | undefined;
  readonly error: unknown;
}

/** What a write reads before it decides; `DrivenWrite::plan`. */
export interface WritePlan {
  readonly scopes: readonly StoredScope[];
  /** Whether it needs the last event of the handle, and not the events with the ids of the write. */
  readonly isLocating: boolean;
  /** The revision after which it needs the changed events. */
  readonly since: number;
}

export function unpackPlan(numbers: Float64Array): WritePlan {
  const scopes = numbers[PlanNumber.Scopes] ?? 0;
  return {
    scopes: SCOPE_NAMES.filter((name) => (scopes & SCOPES[name]) !== 0),
    isLocating: numbers[PlanNumber.IsLocating] === 1,
    since: numbers[PlanNumber.Since] ?? 0,
  };
}

const SCOPE_NAMES = Object.keys(SCOPES) as StoredScope[];

/** What a write changes; `DrivenWrite::decide`. */
export interface Decision {
  /** The new revisions; 0 for what does not change. */
  readonly revisions: Readonly<Record<StoredScope, number>>;
  /** The new states as JSON texts; empty for those that do not change. */
  readonly states: Readonly<Record<StoredScope, string>>;
  /** That of the session. */
  readonly lastUpdateTime: number;
  /** That of the session. */
  readonly created: number;
  readonly events: readonly WrittenEvent[];
}

/** An event to write. */
interface WrittenEvent {
  /** Its index among the events of the write. */
  readonly position: number;
  readonly seq: number;
  readonly revision: number;
}

/** @param states each of them ends with a NUL, which JSON text never contains; `''` if no state was requested */
export function unpackDecision(numbers: Float64Array, states: string): Decision {
  const number = (at: number): number => numbers[at] ?? 0;
  const [session = '', user = '', app = ''] = states.split('\0');
  const events: WrittenEvent[] = [];
  for (let at: number = DecisionNumber.Length; at < numbers.length; at += WrittenNumber.Length) {
    events.push({
      position: number(at + WrittenNumber.Position),
      seq: number(at + WrittenNumber.Seq),
      revision: number(at + WrittenNumber.Revision),
    });
  }
  return {
    revisions: {
      session: number(DecisionNumber.Session),
      user: number(DecisionNumber.User),
      app: number(DecisionNumber.App),
    },
    states: { session, user, app },
    lastUpdateTime: number(DecisionNumber.LastUpdateTime),
    created: number(DecisionNumber.Created),
    events,
  };
}
