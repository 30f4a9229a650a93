/**
 * What the routes have in common that let the agent answer a message. `askAgent` is for messages that a client appends
 * with `run`: the run goes on when the client has gone. The runs of `/run` and `/run_sse` are in `run_routes.ts`, and
 * those of edited messages in `history_routes.ts`.
 */
import { invalidValue, sessionNotFound } from '../../values/errors/invalid.js';
import { SessionError } from '../../values/errors/errors.js';
import { raceSignal } from '../../core/call/time_limit.js';
import { requireSameMessage } from '../../core/history/session_history.js';
import { type AdmittedMessage, isStoredAlready } from '../../service/runs/agent/run_storage.js';
import { OPEN_HEADER, openText, RUN_HEADER } from '../../stores/http/protocol.js';
import { type AskedRun, takeRunMessage } from '../../values/model/asked_run.js';
import type { Event, NewEvent } from '../../values/model/event/event.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { RevisionCheck } from '../../values/model/session.js';
import { isId } from '../../values/model/values/ids.js';
import { eventsIn, filesIn } from '../requests/call_body.js';
import type { RouteCall } from '../requests/route.js';
import { tellOpen } from '../requests/session_response.js';
import { admitMessage } from '../rights/client_append.js';
import type { ServerMessage } from '../runs/server_run.js';
import type { ServerRuns } from '../runs/server_runs.js';

/** A message of a client, whose id names its run. */
export type ClientMessage = NewEvent & { readonly id: string };

/** What a client knows of a session. Absent members: nothing. */
interface SeenSession {
  readonly created: number | undefined;
  readonly revision: number | undefined;
}

/** How a message is answered and stored. */
type AnswerOptions = Pick<ServerMessage, 'streaming'> &
  Pick<AdmittedMessage, 'expectedRevision' | 'firstTitle'>;

/** What a client gets when the agent answers its message. */
export interface AskResult {
  /** The message as it is stored. */
  readonly stored: Event;
  /** The message as the client has sent it. A plugin of the agent may have changed it. */
  readonly sent: NewEvent;
}

/**
 * Lets the agent answer the message of a body, and returns the message once it is stored. If it is stored already, no
 * run begins. The run goes on when the client has gone.
 *
 * @param handle what the client knows of the session: the revision at which it was created, and the one that it must
 *   have if the body names none
 * @param firstTitle the title that the session gets with the message, if it has none
 * @throws HttpRefusal 403, 409, 503; SessionError `unsupported`, `invalid_argument`, `not_found`, also if the session
 *   was created again; `run_failed` if a plugin refuses the message
 */
export async function askAgent(
  call: RouteCall,
  { streaming = false }: AskedRun,
  handle: SeenSession,
  firstTitle: string | undefined,
): Promise<AskResult> {
  const runs = await requireRuns(call);
  const message = messageIn(call);
  const { expectedRevision: expected } = call.body as RevisionCheck;
  const options = { streaming, expectedRevision: expected ?? handle.revision, firstTitle };
  const storing = storeOrFind(call, runs, message, options, handle.created);
  const stored = await raceSignal(call.signal, storing);
  await tellRun(call, runs, message.id);
  return { stored, sent: message };
}

/**
 * Tells the client which run answers its message, if the run is under way in this process. Otherwise tells which message
 * another process may be answering.
 */
export async function tellRun(call: RouteCall, runs: ServerRuns, messageId: string): Promise<void> {
  const { key, headers } = call;
  const { start, number } = runs.find(key, messageId)?.runId ?? {};
  if (start === undefined) return tellOpen(call);
  headers[RUN_HEADER] = `${start} ${number}`;
  // The feed of the client may come from another process.
  if (runs.isOneOfMany) headers[OPEN_HEADER] = openText({ messageId, leftMs: runs.longestMs });
  call.reportRun(runs, messageId);
}

/** Returns the message as it is stored: by an earlier request, by a run under way that it joins, or by a new run. */
async function storeOrFind(
  call: RouteCall,
  runs: ServerRuns,
  message: ClientMessage,
  options: AnswerOptions,
  created: number | undefined,
): Promise<Event> {
  const before = await readStored(call, message, created);
  if (before !== undefined) return before;
  try {
    const running = runs.find(call.key, message.id);
    if (running !== undefined) return sentBefore(await running.stored, message);
    return await runs.begin(answeredMessage(call, message, options)).stored;
  } catch (error) {
    // Another process has begun its run.
    const stored = isStoredAlready(error) ? await readStored(call, message) : undefined;
    if (stored === undefined) throw error;
    return stored;
  }
}

/**
 * Returns the message, if it is stored. Without the signal of the request, which a run does not follow.
 *
 * @param created the revision at which the session must have been created
 * @throws SessionError `invalid_argument` if its id is that of another event; `not_found`
 */
async function readStored(
  { service, key }: RouteCall,
  message: ClientMessage,
  created?: number,
): Promise<Event | undefined> {
  const { events, ...session } = await service.getEvents({ ...key, eventIds: [message.id] });
  if (created !== undefined && created !== session.created) throw sessionNotFound(key.sessionId);
  return events[0] && sentBefore(events[0].event, message);
}

function sentBefore(stored: Event, message: ClientMessage): Event {
  return requireSameMessage('events[0].id', stored, message);
}

/**
 * Returns what a run of a client's message needs. The rights decide on the message when the run begins, and again if
 * others have changed the session before it is stored.
 *
 * @param options the revision is the one that the client expects
 */
export function answeredMessage(
  call: RouteCall,
  message: ClientMessage,
  { streaming, expectedRevision, firstTitle }: AnswerOptions,
): ServerMessage {
  const { service, key, rights, report } = call;
  const request = { service, key, rights, expectedRevision };
  const [files = []] = filesIn(call, 1);
  const admit = async (): Promise<AdmittedMessage> => ({
    ...(await admitMessage(request, message, files)),
    firstTitle,
  });
  return { key, messageId: message.id, streaming, admit, onError: report };
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
  await call.requireAccess({ action: 'run', sessionId: call.key.sessionId });
  return runsOf(call);
}

/**
 * Takes the only event of a body: a message, or answers to calls.
 *
 * @throws SessionError `invalid_argument`; HttpRefusal 403
 */
function messageIn(call: RouteCall): ClientMessage {
  const event = takeRunMessage('events', eventsIn(call), call.body.expectedEvents);
  const { id = newEventId() } = event;
  if (!isId(id)) throw invalidValue('events[0].id', 'must be a text', id);
  return { ...event, id };
}
