/** The routes of histories: branches, states, forks and rewinds. */
import type { NamedFile } from '../../core/write.js';
import { raceSignal } from '../../core/call/time_limit.js';
import { fork, readBranches, stateAt, requireHistory } from '../../core/history/histories.js';
import { takePlace } from '../../core/history/session_history.js';
import type {
  AdmitEvents,
  HistoryPlace,
  RepeatedMessage,
  RewindOptions,
  RewindPlace,
  RewindWrite,
  Rewound,
} from '../../core/history_types.js';
import { copyEvent } from '../../service/runs/agent/copies.js';
import {
  type AdmittedMessage,
  storedAlreadyError,
  isStoredAlready,
} from '../../service/runs/agent/run_storage.js';
import { FORK, REWIND } from '../../stores/http/request_bodies.js';
import { invalid } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { isEqualJson } from '../../values/json/equal.js';
import { type AskedRun, requireRunParts } from '../../values/model/asked_run.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { filesOf } from '../../values/model/event/message_files.js';
import { namedFiles, withFiles } from '../../values/model/event/place_files.js';
import { takeContent } from '../../values/model/event/parts.js';
import { isBlank, requireId } from '../../values/model/values/ids.js';
import { HttpRefusal } from '../http/responses.js';
import { eventsIn, filesIn, stateIn } from '../requests/call_body.js';
import { TEXT } from '../requests/parameters.js';
import { keyOf, type Route, routeWithQuery, type RouteCall } from '../requests/route.js';
import { respondWithSession } from '../requests/session_response.js';
import { admitAfter } from '../rights/client_append.js';
import { filesOfUser } from '../rights/client_files.js';
import { withWholeDelta } from '../rights/public_view.js';
import type { ServerRuns } from '../runs/server_runs.js';
import { requireRuns, tellRun } from './ask_agent.js';
import { SESSION } from './session_routes.js';

/** The routes besides that of rewinds. The server computes them, because a client may not see the whole session. */
export const HISTORY_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: `${SESSION}/fork`,
    action: 'getSession',
    summary:
      'Makes a new session with the history up to a place. The same request again returns that session.',
    body: FORK,
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

// A rewind over HTTP. `rewindIn` takes it from the body. `rewindFor` stores it by the rights of the request, and ends
// the run under way. `rewindAndAnswer` then has the agent answer an edited message.

export const REWIND_ROUTE: Route = {
  method: 'POST',
  path: `${SESSION}/rewind`,
  action: 'rewind',
  summary:
    'Undoes an invocation and everything after it, or a rewind, or a turn whose message is sent again, by an event. ' +
    'The same request again changes nothing if it names its marker. It ends a run under way. With `run` the ' +
    'agent answers the message.',
  body: REWIND,
  response: 'Rewound',
  run: async (call) => {
    const rewound = await rewindWithRuns(call, rewindIn(call));
    const { event, message, unknownKeys, revision, isNew } = rewound;
    return { event, message, unknownKeys, revision, isNew };
  },
};

/** The members of a body of {@link REWIND} besides the events. */
interface RewindBody {
  readonly place: Readonly<Record<string, unknown>>;
  readonly marker?: RewindWrite['marker'];
  readonly message?: Omit<RepeatedMessage, 'content'> & { readonly content?: unknown };
  readonly run?: AskedRun;
}

/** Takes the rewind of a body. @throws SessionError `invalid_argument` */
function rewindIn(call: RouteCall): RewindWrite {
  const { key, body } = call;
  const { marker, run, ...given } = body as unknown as RewindBody;
  const place = placeIn(given.place);
  const [files = []] = filesIn(call, 1);
  if (files.length > 0 && given.message?.content === undefined) {
    throw invalid('files', 'must not be given without message.content, whose parts they name');
  }
  const message = given.message && messageIn(given.message, files);
  if (run !== undefined && message?.content !== undefined)
    requireRunParts('message.content', message);
  if ('turn' in place !== (message !== undefined)) {
    throw invalid('message', 'must be given with place.turn, and with no other place');
  }
  if (run !== undefined && message === undefined) {
    throw invalid('run', 'must be given with place.turn and message, which the agent answers');
  }
  return {
    kind: 'rewind',
    key,
    place,
    message,
    run,
    marker: marker
      ? idsIn('marker', marker)
      : { id: newEventId(), invocationId: `e-${newEventId()}` },
    events: body.events === undefined ? undefined : eventsIn(call).map(withId),
  };
}

function withId(event: NewEvent): NewEvent {
  return { ...event, id: event.id ?? newEventId() };
}

function placeIn(given: RewindBody['place']): RewindPlace {
  const [name, another] = ['before', 'undo', 'branch', 'turn'].filter((name) => name in given);
  if (name === undefined || another !== undefined) {
    throw invalid('place', 'must have one of before, undo, branch and turn');
  }
  const value = given[name];
  if (name === 'before') return { before: takePlace('place.before', value as HistoryPlace) };
  requireText(`place.${name}`, value);
  return { [name]: value } as unknown as RewindPlace;
}

/** @param files those of the new content */
function messageIn(
  { content, ...ids }: NonNullable<RewindBody['message']>,
  files: readonly NamedFile[],
): RepeatedMessage {
  const message = idsIn('message', ids);
  if (content === undefined) return message;
  return { ...message, files, content: takeContent(content, 'user', 'message.content') };
}

function idsIn(
  name: string,
  { id, invocationId }: RewindWrite['marker'],
): { id: string; invocationId: string } {
  return {
    id: requireId(`${name}.id`, id),
    invocationId: requireId(`${name}.invocationId`, invocationId),
  };
}

/** Rewinds, and has the agent answer the message if the write says so. The run under way ends with the append. */
async function rewindWithRuns(call: RouteCall, write: RewindWrite): Promise<Rewound> {
  const { key, signal } = call;
  const { message, run } = write;
  const runs = run === undefined ? call.runs : await requireRuns(call);
  const running = runs && (() => runs.underWay(key));
  if (run === undefined || runs === undefined || message === undefined) {
    return rewindFor(call, write, { running });
  }
  // The run goes on when the client has gone.
  const unlimited = { ...call, signal: new AbortController().signal };
  const { streaming = false } = run;
  const rewinding = runs.rewinding(key, () =>
    rewindAndAnswer(unlimited, runs, write, message.id, streaming),
  );
  const rewound = await raceSignal(signal, rewinding);
  // Only now: a client that has gone gets no stream that would follow the run.
  await tellRun(call, runs, message.id);
  return rewound;
}

/** Rewinds, and lets the agent answer the message that the rewind stores. */
async function rewindAndAnswer(
  call: RouteCall,
  runs: ServerRuns,
  write: RewindWrite,
  messageId: string,
  streaming: boolean,
): Promise<Rewound> {
  const { service, key, report } = call;
  const { events } = await service.getEvents({ ...key, eventIds: [write.marker.id] });
  // A rewind that is sent again begins nothing.
  if (events.length > 0) return rewindFor(call, write, {});
  let rewound: Rewound | undefined;
  const admit = async (mark: string): Promise<AdmittedMessage> => {
    const running = () => runs.underWay(key);
    rewound = await rewindFor(call, write, { running, idempotencyKey: mark });
    // Another process has stored it, and runs the agent.
    if (!rewound.isNew) throw storedAlreadyError(messageId);
    return { message: copyEvent(rewound.message!), isStored: true };
  };
  try {
    await runs.beginBehind({ key, messageId, streaming, admit, onError: report }).stored;
  } catch (error) {
    if (!isStoredAlready(error)) throw error;
  }
  return rewound!;
}

/** Rewinds a session by the rights of the request. */
function rewindFor(
  call: RouteCall,
  write: RewindWrite,
  options: Omit<RewindOptions, 'admit'>,
): Promise<Rewound> {
  const { service, key, signal, rights } = call;
  const { message } = write;
  const admit: AdmitEvents = async (events, stored, state, isPassedOn) => {
    for (const { actions } of events) stateIn(call, actions?.stateDelta, 'message');
    // The message is the first of them. Its files are those of the request, and of the undone message.
    const [made] = message === undefined ? [] : (events as readonly Event[]);
    const bare = made === undefined ? events : [withFiles(made, []), ...events.slice(1)];
    const admitted = await admitAfter(stored, bare, rights);
    if (made !== undefined) {
      const given = namedFiles(made, message?.files ?? []);
      const own = await filesOfUser(service, { ...key, signal }, given);
      const files = filesOf(made).map((file) => own.find(({ part }) => part === file.part) ?? file);
      admitted[0] = withFiles(admitted[0]!, files);
    }
    if (rights.maySeeCredentials) return admitted;
    const whole = admitted.map((event) => withWholeDelta(event, state));
    const isAsItWas = isEqualJson(whole[0]?.actions, admitted[0]?.actions);
    if (!isPassedOn || write.message === undefined || isAsItWas) return whole;
    throw new HttpRefusal(403, 'This request may not send a message again that has a credential.');
  };
  // The agent of this server answers the message, not that of a server behind it.
  const own = { ...write, run: undefined, signal };
  return requireHistory(service).rewind(own, { ...options, admit });
}
