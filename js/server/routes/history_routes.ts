import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { readBranches } from '../../core/history/branches.js';
import { type AdmitEvents, appendRewind } from '../../core/history/append_rewind.js';
import { fork } from '../../core/history/fork.js';
import { raceSignal } from '../../core/call/time_limit.js';
import { copyEvent } from '../../service/runs/agent/copies.js';
import { messageOf, requireRuns, runIn } from './append.js';
import { stateAt } from '../../core/history/state_at.js';
import { takePlace } from '../../core/history/session_history.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { coreOf } from '../../core/core_of.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { NewEvent } from '../../values/model/event/event.js';
import type {
  HistoryPlace,
  RepeatedMessage,
  RewindPlace,
  RewindWrite,
  Rewound,
} from '../../core/history_types.js';
import { isBlank, requireId } from '../../values/model/values/ids.js';
import type { Session } from '../../values/model/session.js';
import { admitAfter } from '../rights/client_append.js';
import { withWholeDelta } from '../rights/whole_values.js';
import { eventsIn, stateIn } from './call_body.js';
import { OWN_FORM } from './client_form.js';
import { TEXT } from './parameters.js';
import { keyOf, type Route, type RouteCall, routeWithQuery } from './route.js';
import * as schemas from './schemas.js';
import { respondWithSession } from './session_response.js';
import { requireSession, SESSION } from './session_routes.js';

const PLACE = schemas.objectOf({}, { eventId: schemas.TEXT, invocationId: schemas.TEXT });

/** The routes of histories, which the server computes: a client may not see the whole session. */
export const HISTORY_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: `${SESSION}/rewind`,
    action: 'rewind',
    // `rewindBeforeInvocationId` is the form that is proposed for `adk api_server` (google/adk-python#7178).
    summary:
      'Undoes an invocation and everything after it, or a rewind, or a turn whose message is sent again, by an event. ' +
      'The same request again changes nothing if it names its marker. A run under way is cancelled first. With `run` the ' +
      'agent answers the message.',
    body: {
      rewindBeforeInvocationId: schemas.TEXT,
      place: schemas.objectOf(
        {},
        { before: PLACE, undo: schemas.TEXT, branch: schemas.TEXT, turn: schemas.TEXT },
      ),
      marker: schemas.objectOf({ id: schemas.TEXT, invocationId: schemas.TEXT }),
      message: schemas.objectOf(
        { id: schemas.TEXT, invocationId: schemas.TEXT },
        { content: schemas.OBJECT },
      ),
      events: schemas.EVENTS_MEMBER,
      run: schemas.RUN_MEMBER,
    },
    response: 'RewoundSession',
    run: async (call) => {
      const write = rewindIn(call);
      const { session, ...rewound } = await rewindWithRuns(call, write);
      const { event, message, unknownKeys } = rewound;
      const { writeEvent } = call.form;
      return {
        ...(await respondWithSession(call, session)),
        event: writeEvent(event),
        message: message && writeEvent(message),
        unknownKeys,
      };
    },
  },
  {
    method: 'POST',
    path: `${SESSION}/fork`,
    action: 'getSession',
    summary:
      'Makes a new session with the history up to a place. The same request again returns that session.',
    body: { newSessionId: schemas.TEXT, at: PLACE, before: PLACE, title: schemas.TEXT },
    response: 'Session',
    run: async (call) => {
      const { newSessionId: id, at, before, title } = call.body;
      const newSessionId = isBlank(id) ? newEventId() : requireId('newSessionId', id);
      await call.requireAccess({ action: 'createSession', sessionId: newSessionId });
      // The function checks them.
      const request = { newSessionId, at, before, title } as Parameters<typeof fork>[1];
      return respondWithSession(call, await fork(call.service, { ...request, ...keyOf(call) }));
    },
  },
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/branches`,
    action: 'getSession',
    summary: 'Returns where the transcript has other branches, and the last marker of a rewind.',
    query: { fromEventId: TEXT },
    response: 'Branches',
    run: (call) => {
      const { fromEventId } = call.query;
      return readBranches(call.service, { ...keyOf(call), fromEventId });
    },
  }),
  routeWithQuery({
    method: 'GET',
    path: `${SESSION}/state`,
    action: 'getSession',
    summary: "Returns the session's own state as it was right after an event.",
    query: { eventId: TEXT },
    response: 'StateAt',
    run: (call) => {
      const { eventId } = call.query;
      requireText('eventId', eventId);
      return stateAt(call.service, { ...keyOf(call), eventId });
    },
  }),
];

/** Takes the rewind of a body. @throws SessionError `invalid_argument` */
function rewindIn(call: RouteCall): RewindWrite {
  const { appName, userId, sessionId, body } = call;
  const { rewindBeforeInvocationId: invocationId, events } = body;
  const marker = isAbsent(body.marker)
    ? { id: newEventId(), invocationId: `e-${newEventId()}` }
    : idsIn('marker', body.marker);
  let place: RewindPlace;
  if (isAbsent(body.place)) {
    requireText('rewindBeforeInvocationId', invocationId);
    place = { before: { invocationId } };
  } else place = placeIn(body.place);
  const message = isAbsent(body.message) ? undefined : messageIn(call, body.message);
  if ('turn' in place !== (message !== undefined)) {
    throw invalid('message', 'must be given with place.turn, and with no other place');
  }
  const run = runIn(body);
  if (run !== undefined && message === undefined) {
    throw invalid('run', 'must be given with place.turn and message, which the agent answers');
  }
  return {
    key: { appName, userId, sessionId },
    ...{ marker, place, message, run },
    events: isAbsent(events) ? undefined : eventsIn(call).map(withId),
  };
}

/** A client may send null for what is absent. */
function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function withId(event: NewEvent): NewEvent {
  return { ...event, id: event.id ?? newEventId() };
}

function placeIn(place: unknown): RewindPlace {
  const given = objectIn('place', place);
  const names = ['before', 'undo', 'branch', 'turn'].filter((name) => !isAbsent(given[name]));
  const [name, another] = names;
  if (name === undefined || another !== undefined) {
    throw invalid('place', 'must have one of before, undo, branch and turn');
  }
  const value = given[name];
  if (name === 'before') return { before: takePlace('place.before', value as HistoryPlace) };
  requireText(`place.${name}`, value);
  return { [name]: value } as unknown as RewindPlace;
}

function messageIn(call: RouteCall, value: unknown): RepeatedMessage {
  const { content, ...ids } = objectIn('message', value);
  const message = idsIn('message', ids);
  if (isAbsent(content)) return message;
  const event = call.form.readEvent({ content: objectIn('message.content', content) });
  return { ...message, content: event.content! };
}

function idsIn(name: string, value: unknown): { id: string; invocationId: string } {
  const { id, invocationId } = objectIn(name, value);
  return {
    id: requireId(`${name}.id`, id),
    invocationId: requireId(`${name}.invocationId`, invocationId),
  };
}

function objectIn(name: string, value: unknown): JsonObject {
  if (isPlainObject(value)) return value;
  throw invalidValue(name, 'must be an object', value);
}

/** Cancels a run under way, rewinds, and lets the agent answer the message if the write says so. */
async function rewindWithRuns(
  call: RouteCall,
  write: RewindWrite,
): Promise<Rewound & { readonly session: Session }> {
  const { service, signal } = call;
  const { key, marker, message, run } = write;
  const runs = run === undefined ? call.runs : await requireRuns(call);
  if (runs === undefined) return rewindFor(call, write);
  const isRunning = message !== undefined && runs.isAnswering(key, message.id);
  const { events } = await service.getEvents({ ...key, eventIds: [marker.id], signal });
  // A rewind that is sent again cancels nothing, and starts nothing.
  if (isRunning || events.length > 0) return rewindFor(call, write);
  await runs.cancel(key, undefined);
  if (run === undefined || message === undefined) return rewindFor(call, write);
  const asked = messageOf(call, message.id, run.streaming ?? false);
  let rewound: RewindOutcome | undefined;
  // Without the signal of the request, which a run does not follow.
  const unlimited = { ...call, signal: new AbortController().signal };
  const stored = runs.ask(asked, async (begin) => {
    rewound = await rewindFor(unlimited, write, newEventId());
    if (!rewound.isNew) throw new StoredByOther();
    return begin({ message: copyEvent(rewound.message!), isStored: true });
  });
  try {
    await raceSignal(signal, stored);
  } catch (error) {
    if (!(error instanceof StoredByOther)) throw error;
  }
  return rewound ?? rewindFor(call, write);
}

/** Another request with the same marker has stored the rewind, and runs the agent. */
class StoredByOther extends Error {}

/** A rewind with the session after it. */
interface RewindOutcome extends Rewound {
  readonly session: Session;
  /** Whether this request has stored it. */
  readonly isNew: boolean;
}

/** Rewinds, and reads what the response shows of the session: our own client asks for its revision alone. */
async function rewindFor(
  call: RouteCall,
  write: RewindWrite,
  claim?: string,
): Promise<RewindOutcome> {
  const { service, signal, rights } = call;
  const isOwn = call.form === OWN_FORM;
  const admit: AdmitEvents = async (events, stored, state) => {
    for (const { actions } of events) stateIn(call, actions?.stateDelta, 'message');
    const admitted = await admitAfter(stored, events, rights);
    if (rights.maySeeCredentials) return admitted;
    return admitted.map((event) => withWholeDelta(event, state));
  };
  const hasEvents = write.events !== undefined || write.message !== undefined;
  // What is appended is checked here, where the whole session is read for it.
  const verbs = hasEvents ? undefined : await coreOf(service)?.history({ signal });
  if (verbs !== undefined) {
    const rewound = await verbs.rewind({ ...write, signal });
    const session = await requireSession(call, isOwn ? { numRecentEvents: 0 } : {});
    return { ...rewound, session, isNew: false };
  }
  const { session, ...rewound } = await appendRewind(service, { ...write, signal }, admit, claim);
  return { ...rewound, session: isOwn ? { ...session, events: [] } : session };
}
