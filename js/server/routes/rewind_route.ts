/**
 * A rewind over HTTP. `rewindIn` takes it from the body. `rewindFor` stores it by the rights of the request, and ends the run
 * under way. `rewindAndAnswer` then has the agent answer an edited message.
 */
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { requireText } from '../../values/errors/option_values.js';
import { raceSignal } from '../../core/call/time_limit.js';
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
import { requireHistory } from '../../core/history/histories.js';
import { REVISION_HEADER } from '../../stores/http/protocol.js';
import { isEqualJson } from '../../values/json/equal.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { takeContent } from '../../values/model/event/parts.js';
import type { Content } from '../../values/model/event/content.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { requireId } from '../../values/model/values/ids.js';
import { copyEvent } from '../../service/runs/agent/copies.js';
import {
  type AdmittedMessage,
  claimedError,
  isClaimed,
} from '../../service/runs/agent/run_storage.js';
import { admitAfter } from '../rights/client_append.js';
import { withWholeDelta } from '../rights/whole_values.js';
import type { ServerRuns } from '../runs/server_runs.js';
import { eventsIn, stateIn } from '../requests/call_body.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { OWN_FORM } from '../requests/client_form.js';
import type { Route, RouteCall } from '../requests/route.js';
import * as schemas from '../requests/schemas.js';
import { respondWithSession } from '../requests/session_response.js';
import { requireRuns, runIn, tellMark } from './ask_agent.js';
import { requireSession, SESSION } from './session_routes.js';

export const REWIND_ROUTE: Route = {
  method: 'POST',
  path: `${SESSION}/rewind`,
  action: 'rewind',
  // `rewindBeforeInvocationId` is the form that is proposed for `adk api_server` (google/adk-python#7178).
  summary:
    'Undoes an invocation and everything after it, or a rewind, or a turn whose message is sent again, by an event. ' +
    'The same request again changes nothing if it names its marker. It ends a run under way. With `run` the ' +
    'agent answers the message.',
  body: {
    rewindBeforeInvocationId: schemas.TEXT,
    place: schemas.objectOf(
      {},
      { before: schemas.PLACE, undo: schemas.TEXT, branch: schemas.TEXT, turn: schemas.TEXT },
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
    const { event, message, unknownKeys, revision, isNew } = await rewindWithRuns(call, write);
    const { form, headers } = call;
    // Our own client asks for the revision alone.
    const isOwn = form === OWN_FORM;
    const session = await requireSession(call, isOwn ? { numRecentEvents: 0 } : {});
    const response = {
      ...(await respondWithSession(call, session)),
      event: form.writeEvent(event),
      message: message && form.writeEvent(message),
      unknownKeys,
    };
    if (!isOwn) return response;
    headers[REVISION_HEADER] = String(revision);
    return { ...response, isNew };
  },
};

/** Takes the rewind of a body. @throws SessionError `invalid_argument` */
function rewindIn(call: RouteCall): RewindWrite {
  const { key, body } = call;
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
    ...{ kind: 'rewind', key, marker, place, message, run },
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
  const event = call.form.readEvent({ content: takeContent(content, 'user', 'message.content') });
  return { ...message, content: event.content as Content };
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
  return raceSignal(signal, rewinding);
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
  const admit = async (): Promise<AdmittedMessage> => {
    const running = () => runs.underWay(key);
    rewound = await rewindFor(call, write, { running, claim: newEventId() });
    // Another process has stored it, and runs the agent.
    if (!rewound.isNew) throw claimedError(messageId);
    return { message: copyEvent(rewound.message!), isStored: true };
  };
  try {
    await runs.beginBehind({ key, messageId, streaming, admit, onError: report }).stored;
  } catch (error) {
    if (!isClaimed(error)) throw error;
  }
  tellMark(call, runs, messageId);
  return rewound!;
}

/** Rewinds a session by the rights of the request. */
function rewindFor(
  call: RouteCall,
  write: RewindWrite,
  options: Omit<RewindOptions, 'admit'>,
): Promise<Rewound> {
  const { service, signal, rights } = call;
  const admit: AdmitEvents = async (events, stored, state, isPassedOn) => {
    for (const { actions } of events) stateIn(call, actions?.stateDelta, 'message');
    const admitted = await admitAfter(stored, events, rights);
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
