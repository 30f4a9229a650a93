/** Reads what a rewind is computed from: the last events of a session, or all. */
import { SessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { isFilled } from '../../values/model/event/markers.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { Call } from '../call/call.js';
import type { RewindPlace, RewindWrite, RunUnderWay } from '../history_types.js';
import type { ReadSession } from '../read.js';
import type { Store } from '../storage/store.js';
import type { ReadyRewind } from '../write.js';
import { rewindTargets } from './rules/marks.js';
import { idsOf } from './session_history.js';
import { readWhole, type WholeSession, wholeSession } from './states.js';
import { beginningByUser, isOfUser } from './repeated_message.js';
import { PAGE_SIZES, type PageSizes, SessionTail } from './session_tail.js';

/** The most ids of one request. */
const MAX_IDS = 100;

/** A session with the last events, as many as a rewind needs. */
interface LastEvents extends Omit<WholeSession, 'olderEvents'> {
  /** Yields the events before these, the newest first. */
  readonly olderEvents: () => AsyncIterable<Event>;
}

/** A session, with all of its events or with the last ones that a rewind needs. */
export type RewindSource = WholeSession | LastEvents;

/** A session to rewind. */
interface SessionToRewind {
  readonly session: RewindSource;
  /** The run that is under way. */
  readonly run: RunUnderWay | undefined;
}

/** The run that was under way after a read, and the revisions of that read. */
type SessionUnderWay = Pick<SessionToRewind, 'run'> & Pick<ReadSession, 'created' | 'revision'>;

/**
 * Reads what a rewind is computed from.
 *
 * The last events are enough from the first undone one on, if none of those that the rewind stores is there already. Of
 * earlier events only values of the state are read. All events are read of a store that reads no parts, and to refuse a
 * rewind: one rule tells why.
 *
 * @throws SessionError `not_found`, `unsupported`, `stale_session`
 */
export async function readRewindSource(
  store: Store,
  write: ReadyRewind,
  call: Call,
  sizes: PageSizes = PAGE_SIZES,
): Promise<SessionToRewind> {
  const { key, options: { running } = {} } = write;
  let before: SessionUnderWay | undefined;
  if (store.traits.readsParts === true) {
    const session = await store.read({ kind: 'window', key, last: sizes.first }, call);
    if (session === undefined) throw sessionNotFound(key.sessionId);
    // The message of a run that begins from now on changes the revision.
    const run = await running?.();
    if (session.events.length < sizes.first) {
      return { session: wholeSession(store, key, session, call), run };
    }
    const last = await readLast(store, write, session, run, sizes, call);
    if (last !== undefined) return { session: last, run };
    before = { ...session, run };
  }
  const session = await readWhole(store, key, call);
  if (Number.isNaN(session.created)) {
    const message = 'The storage has no revisions, so its sessions cannot be rewound.';
    throw new SessionError('unsupported', message);
  }
  const { created, revision } = session;
  // A run of another process costs a question to it, and the append fails if the session changes meanwhile.
  const isUnchanged = before?.created === created && before.revision === revision;
  return { session, run: isUnchanged ? before?.run : await running?.() };
}

/** Reads the last events that a rewind needs. Returns `undefined` if it needs all. */
async function readLast(
  store: Store,
  write: RewindWrite,
  session: ReadSession,
  run: RunUnderWay | undefined,
  sizes: PageSizes,
  call: Call,
): Promise<RewindSource | undefined> {
  const { key, place, message } = write;
  const ids = idsOf(write);
  const eventId = eventIdOf(place) ?? '';
  const others = [eventId, run?.message.id ?? ''].filter(isFilled);
  const eventIds = [...new Set([...ids, ...others])];
  if (eventIds.length > MAX_IDS) return undefined;
  const found = await store.read({ kind: 'ids', key, eventIds }, call);
  const stored = new Map(found?.events.map(({ event }) => [event.id, event]));
  if (ids.some((id) => stored.has(id))) return undefined;
  const invocation = invocationOf(place, stored.get(eventId));
  if (!isFilled(invocation)) return undefined;
  const tail = new SessionTail(store, key, session, sizes, call);
  const isOfAnswer = 'turn' in place && message?.content === undefined;
  const cut = await (isOfAnswer ? reachQuestion(tail, invocation!) : tail.reach(invocation!));
  // A message that came after the first read is not among the events, however far back they are read.
  const isRead = found?.events.some(
    ({ event, revision }) => event.id === run?.message.id && revision <= session.revision,
  );
  const start = run !== undefined && isRead ? await reachRun(tail, run) : cut;
  if (cut === undefined || start === undefined) return undefined;
  const cutPlace = tail.events.indexOf(cut);
  const from = Math.min(cutPlace, tail.events.indexOf(start));
  const events = tail.events.slice(from);
  // Whether another rewind was the last one is not known without any.
  if ('undo' in place && rewindTargets(events).size === 0) return undefined;
  const { state, created, revision } = session;
  return {
    events,
    olderInvocations: tail.olderInvocations(from),
    state: JSON.parse(state) as StateShape,
    created,
    revision,
    earlierValues: (keys) => tail.valuesBefore(cutPlace, keys),
    olderEvents: () => tail.eventsBefore(from),
  };
}

/** Returns the id of the event that a place names, if it names one. */
function eventIdOf(place: RewindPlace): string | undefined {
  if ('turn' in place) return place.turn;
  return 'before' in place && 'eventId' in place.before ? place.before.eventId : undefined;
}

/** Returns the invocation that a place names, or that of the event that it names. */
function invocationOf(place: RewindPlace, named: Event | undefined): string | undefined {
  if ('branch' in place) return place.branch;
  if ('undo' in place) return place.undo;
  const isInvocation = 'before' in place && 'invocationId' in place.before;
  return isInvocation ? place.before.invocationId : named?.invocationId;
}

/** Reads back to the first event of the invocation that the user's event of a turn began; see `answeredEvent`. */
async function reachQuestion(tail: SessionTail, invocation: string): Promise<Event | undefined> {
  const first = await tail.reach(invocation);
  if (first === undefined || beginningByUser(tail.events, invocation) !== undefined) return first;
  for await (const event of tail.activeBefore(tail.events.indexOf(first))) {
    if (isOfUser(event)) return reachQuestion(tail, event.invocationId);
  }
  return undefined;
}

/** Reads back to the event from which on a run needs all to compute how it ends; see `RunUnderWay`. */
async function reachRun(tail: SessionTail, { message }: RunUnderWay): Promise<Event | undefined> {
  const first = await tail.reach(message.invocationId);
  const answer = await tail.readBackTo(({ author }) => author !== 'user');
  return tail.events.find((event) => event === first || event === answer);
}
