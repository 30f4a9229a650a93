import { takeRequest } from '../call/call.js';
import { SessionError } from '../../values/errors/errors.js';
import { requireText } from '../../values/errors/option_values.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { snapshotEvent } from '../../values/model/event/snapshot.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type {
  HistoryPlace,
  RewindOptions,
  RewindPlace,
  RewindResult,
  RewindWrite,
  Rewound,
} from '../history_types.js';
import type { Abortable, CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { readBranches, requireHistory } from './histories.js';
import { sessionKeyOf, takePlace } from './session_history.js';

/** The request of {@link rewind}. */
export interface RewindRequest extends CompositeSessionKey, Abortable {
  /** The first undone invocation. An event stands for its invocation. */
  before: HistoryPlace;
}

/** The request of {@link switchBranch}. */
export interface SwitchBranchRequest extends CompositeSessionKey, Abortable {
  /** The branch, from `branches`: the invocation of the marker that ended it. */
  branch: string;
}

/**
 * Undoes an invocation and everything after it: appends the marker that google-adk for Python appends. No event is
 * deleted. The state of the session goes back to what it was before the first event of the invocation. `user:` and
 * `app:` keys stay, and so do artifacts.
 *
 * If somebody appends meanwhile, the rewind is computed again and undoes those events too, five times at most. Over
 * HTTP the server computes it. The title stays.
 *
 * @throws SessionError (as a rejection) `not_found` for the session, the event or the invocation; `invalid_argument`
 *   for an event without `invocationId`; `stale_session` if others append again and again; `unsupported` over
 *   `adk api_server` and a service that is a class of yours; any error of `appendEvent`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { rewind } from 'adk-session-wasm/history';
 *
 * const service = new InMemorySessionService();
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const session = await service.createSession({ ...key, state: { tea: 'green' } });
 * await service.appendEvent({ session, event: { invocationId: 'i1', author: 'user' } });
 * await service.updateState({ ...key, stateDelta: { tea: 'black' } });
 *
 * await rewind(service, { ...key, before: { invocationId: 'i1' } });
 * console.log((await service.getSession(key))?.state); // { tea: 'green' }
 * ```
 */
export async function rewind(
  service: SessionService,
  request: RewindRequest,
): Promise<RewindResult> {
  const taken = takeRequest(request);
  return resultOf(await sendRewind(service, taken, { before: takePlace('before', taken.before) }));
}

/**
 * Switches to another branch of {@link branches}: appends the rewind that brings it back.
 *
 * @throws SessionError (as a rejection) `not_found` for the session or the branch, and the errors of {@link rewind}
 */
export async function switchBranch(
  service: SessionService,
  request: SwitchBranchRequest,
): Promise<RewindResult> {
  const taken = takeRequest(request);
  const { branch } = taken;
  requireText('branch', branch);
  return resultOf(await sendRewind(service, taken, { branch }));
}

/**
 * Undoes the last rewind and all events after it: switches to the branch that the rewind ended. A second call undoes
 * the first.
 *
 * @throws SessionError (as a rejection) `not_found` for the session, or if nothing was rewound; `stale_session` if
 *   another rewind comes meanwhile; the errors of {@link rewind}
 */
export async function undoRewind(
  service: SessionService,
  key: CompositeSessionKey & Abortable,
): Promise<RewindResult> {
  const taken = takeRequest(key);
  const { lastRewind } = await readBranches(service, taken);
  if (lastRewind === undefined) {
    throw new SessionError('not_found', 'Nothing was rewound in this session.');
  }
  return resultOf(await sendRewind(service, taken, { undo: lastRewind }));
}

/** What a rewind has beside its place. */
type RewindParts = Pick<RewindWrite, 'message' | 'events' | 'run'> & Pick<RewindOptions, 'running'>;

/** Rewinds a session. The run under way ends. */
export async function sendRewind(
  service: SessionService,
  request: CompositeSessionKey & Abortable,
  place: RewindPlace,
  { message, events, run, running }: RewindParts = {},
): Promise<Rewound> {
  const { signal } = request;
  const marker = { id: newEventId(), invocationId: `e-${newEventId()}` };
  const content =
    message?.content &&
    jsonEvent({ invocationId: '', author: 'user', content: message.content }).content;
  const write: RewindWrite = {
    kind: 'rewind',
    key: sessionKeyOf(request),
    marker,
    place,
    message: message && { ...message, content },
    events: events?.map(jsonEvent),
    run,
  };
  // The message of a page with an agent begins a run of this program.
  const idempotencyKey = running && message && newEventId();
  return requireHistory(service).rewind({ ...write, signal }, { running, idempotencyKey });
}

/** Returns an event as JSON says it, with an id: the request may be sent again. */
function jsonEvent(event: NewEvent): Event {
  // The snapshot sets the missing members.
  const { text } = snapshotEvent({ ...event } as Event, Date.now, newEventId);
  return JSON.parse(text) as Event;
}

function resultOf({ event, unknownKeys }: Rewound): RewindResult {
  return { event, unknownKeys };
}
