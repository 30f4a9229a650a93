import { optionalCount, requireObject } from '../../values/errors/option_values.js';
import type { NewEvent, Event } from '../../values/model/event/event.js';
import type { ExpectedEvents } from '../../values/model/session.js';
import {
  appendOfClient,
  type ClaimRequest,
  type Expected,
  claimOfClient,
} from '../rights/client_append.js';
import { eventsIn } from './call_body.js';
import { keyOf, type RouteCall } from './route.js';
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { raceSignal } from '../../core/call/time_limit.js';
import { isEqualJson } from '../../values/json/equal.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import type { AskedRun } from '../../values/model/asked_run.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { partsOf } from '../../values/model/event/parts.js';
import { isId } from '../../values/model/values/ids.js';
import { copyEvent } from '../../service/runs/agent/copies.js';
import type { ServerMessage, ServerRuns } from '../runs/server_runs.js';

/**
 * Appends the events of a body, if the rights of the request admit them.
 *
 * @param append appends the events that the rights admit; called again after others have appended
 * @throws HttpRefusal 403 if the rights do not admit an event
 */
export async function appendBody<Result>(
  call: RouteCall,
  append: (events: NewEvent[], expected: Expected) => Promise<Result>,
): Promise<Result> {
  const { service, body } = call;
  const events = eventsIn(call);
  // A client may send null for what is absent.
  const expectedEvents = body.expectedEvents ?? undefined;
  if (expectedEvents !== undefined) requireObject('expectedEvents', expectedEvents);
  return appendOfClient({
    service,
    key: keyOf(call),
    rights: call.rights,
    events,
    expectedRevision: optionalCount('expectedRevision', body.expectedRevision ?? undefined),
    // The service checks the revisions.
    expectedEvents: expectedEvents as ExpectedEvents | undefined,
    append,
  });
}

/** Takes the member `run` of a body. @throws SessionError `invalid_argument` */
export function runIn({ run }: JsonObject): AskedRun | undefined {
  // A client may send null for what is absent.
  if (run === undefined || run === null) return undefined;
  if (!isPlainObject(run)) throw invalidValue('run', 'must be an object', run);
  return { streaming: streamingIn('run.streaming', run.streaming) };
}

/** Takes whether a run is to stream; an absent value counts as `false`. @throws SessionError `invalid_argument` naming the member */
export function streamingIn(name: string, streaming: unknown = null): boolean {
  if (streaming === null || typeof streaming === 'boolean') return streaming ?? false;
  throw invalidValue(name, 'must be true or false', streaming);
}

/** Returns the runs of the server. @throws SessionError `unsupported` if it has no agent */
export function runsOf({ runs }: RouteCall): ServerRuns {
  if (runs !== undefined) return runs;
  throw new SessionError(
    'unsupported',
    'The server has no agent; give its handler the option run.',
  );
}

/** Returns the runs of the server, if the request may begin one. @throws HttpRefusal 403; SessionError `unsupported` */
export async function requireRuns(call: RouteCall): Promise<ServerRuns> {
  await call.requireAccess({ action: 'run', sessionId: call.sessionId });
  return runsOf(call);
}

/** What a client gets when the agent answers its message. */
export interface AskResult {
  /** The message as it is stored. */
  readonly stored: Event;
  /** Whether its content is what the client has sent. A plugin of the agent may have changed it. */
  readonly isAsSent: boolean;
}

/**
 * Lets the agent answer the message of a body, and returns the message once it is stored. If it is stored already, no run
 * begins. The run goes on when the client has gone.
 *
 * @param seenRevision the revision that the session must have, if the body names none
 * @throws HttpRefusal 403, 503; SessionError `unsupported`, `invalid_argument`, `not_found`, `agent_running`; what the agent throws
 *   before the message is stored
 */
export async function askAgent(
  call: RouteCall,
  { streaming = false }: AskedRun,
  seenRevision?: number,
): Promise<AskResult> {
  const runs = await requireRuns(call);
  const { service, rights, body, signal } = call;
  const event = messageIn(call);
  const expectedRevision =
    optionalCount('expectedRevision', body.expectedRevision ?? undefined) ?? seenRevision;
  const message = messageOf(call, event.id, streaming);
  const { key } = message;
  const readStored = async (): Promise<Event | undefined> => {
    const { events } = await service.getEvents({ ...key, eventIds: [event.id] });
    return events[0]?.event;
  };
  const ask = async (): Promise<Event> => {
    const before = await readStored();
    if (before !== undefined) return before;
    try {
      return await askRuns(runs, message, event, { service, key, rights, expectedRevision });
    } catch (error) {
      const isClaimed = isSessionError(error, 'already_exists') && error.key === 'message.id';
      const stored = isClaimed ? await readStored() : undefined;
      if (stored === undefined) throw error;
      return stored;
    }
  };
  const stored = await raceSignal(signal, ask());
  return { stored, isAsSent: isEqualJson(stored.content, event.content) };
}

/** Lets the agent answer an event of a client, if its rights admit it, and returns the event once it is stored. */
export function askRuns(
  runs: ServerRuns,
  message: ServerMessage,
  event: NewEvent,
  request: ClaimRequest,
): Promise<Event> {
  return runs.ask(message, (begin) =>
    claimOfClient(request, event, (admitted, expectedRevision) =>
      begin({ message: copyEvent(admitted), isStored: false, expectedRevision }),
    ),
  );
}

/** Returns what a run needs to know of a message. */
export function messageOf(call: RouteCall, messageId: string, streaming: boolean): ServerMessage {
  const { appName, userId, sessionId } = call;
  // Without the signal of the request, which a run does not follow.
  const key = { appName, userId, sessionId };
  return { key, messageId, streaming, onError: call.report };
}

/** Takes the only event of a body: a message, or answers to calls. @throws SessionError `invalid_argument`; HttpRefusal 403 */
function messageIn(call: RouteCall): NewEvent & { id: string } {
  const [event, another] = eventsIn(call);
  if (event === undefined || another !== undefined) {
    throw invalid('events', 'must have exactly one event with run: the message');
  }
  const { author, id = newEventId(), partial } = event;
  if (author !== 'user') throw invalidValue('events[0].author', "must be 'user' with run", author);
  if (partial === true || partsOf(event as Event).length === 0) {
    throw invalid('events[0].content', 'must have parts with run');
  }
  if (!isId(id)) throw invalidValue('events[0].id', 'must be a text', id);
  const expected = Object.entries(Object(call.body.expectedEvents) as JsonObject);
  if (expected.some(([name, revision]) => name !== id || revision !== null)) {
    throw invalid(
      'expectedEvents',
      'must not be given with run: a stored message is never replaced',
    );
  }
  return { ...event, id };
}
