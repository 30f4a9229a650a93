/**
 * Turns the results that cross as lists into objects: those of an append and of a write's plan and decision, where an
 * object would cost much of the call. All other results are objects when they leave the wasm.
 */
import type { Appended, EventPlace, MissedEvent, UnchangedEvent } from '../backend.js';
import type { StoredScope } from '../../state/scope.js';
import { coreError } from '../../wasm/core.js';
import { SCOPES } from '../../wasm/protocol.js';

export type PackedAppend = readonly [
  created: number,
  revision: number,
  lastUpdateTime: number,
  /** NaN without a handle. */
  since: number,
  user: number,
  app: number,
  details?: AppendDetails,
];

/** The part of the result that most appends do not have; `append_details` in `results.rs`. */
interface AppendDetails extends Pick<Appended, 'unchanged' | 'missed' | 'state' | 'undone'> {
  /** Absent if all events are new. */
  readonly placed: readonly EventPlace[] | undefined;
}

const NO_UNCHANGED: readonly UnchangedEvent[] = [];
const NO_MISSED: readonly MissedEvent[] = [];

/** @param count the number of events of the append */
export function unpackAppend(packed: PackedAppend, count: number): Appended {
  const [created, revision, lastUpdateTime, since, user, app, details] = packed;
  return {
    created,
    revision,
    lastUpdateTime,
    since: Number.isNaN(since) ? undefined : since,
    shared: { user, app },
    unchanged: details?.unchanged ?? NO_UNCHANGED,
    missed: details?.missed ?? NO_MISSED,
    state: details?.state,
    placed: details?.placed ?? newPlaces(revision, count),
    undone: details?.undone,
  };
}

/** The places of new events, which the wasm leaves out. The last one has the session's revision. */
function newPlaces(last: number, count: number): EventPlace[] {
  const places: EventPlace[] = [];
  for (let later = count - 1; later >= 0; later -= 1) {
    const revision = last - later;
    places.push({ seq: revision, revision });
  }
  return places;
}

/** The outcome of an append within a group: the result, or the error. */
export interface PackedOutcome {
  readonly appended: PackedAppend | undefined;
  readonly error: unknown;
}

/** @throws SessionError the error of the append */
export function unpackOutcome({ appended, error }: PackedOutcome, count: number): Appended {
  if (appended === undefined) throw coreError(error);
  return unpackAppend(appended, count);
}

/** What a write reads before it decides; `CoreWrite::plan`. */
export interface Plan {
  readonly scopes: readonly StoredScope[];
  /** Whether it needs the last event of the handle, and not the events with the ids of the write. */
  readonly isLocating: boolean;
  /** The revision after which it needs the changed events. */
  readonly since: number;
}

export function unpackPlan([scopes = 0, locates, since = 0]: Float64Array): Plan {
  return {
    scopes: SCOPE_NAMES.filter((name) => (scopes & SCOPES[name]) !== 0),
    isLocating: locates === 1,
    since,
  };
}

const SCOPE_NAMES = Object.keys(SCOPES) as StoredScope[];

/** What a write changes; `CoreWrite::decide`. */
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
  const [ofSession = 0, ofUser = 0, ofApp = 0, lastUpdateTime = 0, created = 0] = numbers;
  const [session = '', user = '', app = ''] = states.split('\0');
  const events: WrittenEvent[] = [];
  for (let at = 5; at < numbers.length; at += 3) {
    const [position, seq, revision] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    events.push({ position, seq, revision });
  }
  const revisions = { session: ofSession, user: ofUser, app: ofApp };
  return { revisions, states: { session, user, app }, lastUpdateTime, created, events };
}
