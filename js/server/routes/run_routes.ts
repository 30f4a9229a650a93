/**
 * The routes of `adk api_server` that run an agent, and the one that cancels a run. The former take a message and
 * return the events of its run. The message gets a new id at each request. Unlike a run that an append began, this one
 * is cancelled when the client leaves.
 */
import { onAbort, raceSignal } from '../../core/call/time_limit.js';
import { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { partsOf, takeContent } from '../../values/model/event/parts.js';
import { HEARTBEAT_MS, HttpRefusal } from '../http/responses.js';
import { statusOf } from '../../values/errors/public_error.js';
import { answersIn } from '../rights/client_event.js';
import { publicView } from '../rights/public_view.js';
import type { RunFailure, ServerRun } from '../runs/server_run.js';
import { answeredMessage, type ClientMessage, requireRuns, runsOf } from './ask_agent.js';
import { stateIn } from '../requests/call_body.js';
import { TEXT } from '../requests/parameters.js';
import { type Route, type RouteCall, routeWithQuery } from '../requests/route.js';
import { requireSession, SESSION } from './session_routes.js';
import { RUN_AGENT } from '../../stores/http/request_bodies.js';

const ROUTE = {
  method: 'POST',
  action: 'appendEvents',
  body: RUN_AGENT,
  hasNamesInBody: true,
  isOfApiServer: true,
} as const;

export const RUN_ROUTES: readonly Route[] = [
  {
    ...ROUTE,
    path: '/run',
    summary: 'Lets the agent answer a message, and returns the events of its run.',
    response: 'AdkEvents',
    run: runToEnd,
  },
  {
    ...ROUTE,
    path: '/run_sse',
    summary: 'Lets the agent answer a message, and sends the events of its run as they come.',
    response: 'AdkRunEvents',
    stream: streamRun,
  },
  routeWithQuery({
    method: 'DELETE',
    path: `${SESSION}/run`,
    action: 'run',
    summary:
      'Cancels the run of a session, and answers when its end event is stored. If nothing runs, stores the end event of the named message.',
    query: { messageId: TEXT },
    response: 'Cancelled',
    run: async (call) => ({
      cancelled: await runsOf(call).cancel(call.key, call.query.messageId),
    }),
  }),
];

/** The members that need no rights. */
interface RunAgentBody {
  readonly streaming?: boolean;
  readonly functionCallEventId?: string;
}

/** The bytes that wait for the reader of a stream, above which partial events are left out. */
const MAX_PARTIAL_BYTES = 2 ** 16;
/** The bytes that wait, above which the reader counts as gone. */
const MAX_WAITING_BYTES = 8 * 2 ** 20;

async function runToEnd(call: RouteCall): Promise<unknown[]> {
  const events: Event[] = [];
  const run = await begin(call, false, (event) => events.push(event));
  const failure = await run.ended;
  if (failure === undefined) return events.map((event) => shown(call, event));
  const { code, message } = failure;
  throw new HttpRefusal(statusOf(code), message, {}, code);
}

async function streamRun(call: RouteCall): Promise<ReadableStream<Uint8Array>> {
  const { streaming = false, functionCallEventId } = call.body as RunAgentBody;
  const isSplit = functionCallEventId === undefined;
  const { maySeeCredentials } = call.rights;
  const encoder = new TextEncoder();
  const left = new AbortController();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const end = (): void => {
    left.abort();
    clearInterval(heartbeat);
  };
  const stream = new ReadableStream<Uint8Array>(
    { start: (opened) => void (controller = opened), cancel: end },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_PARTIAL_BYTES }),
  );
  /** Leaves out what may be left out while the reader does not read. */
  const send = (line: string, isNeeded = false): void => {
    const waiting = MAX_PARTIAL_BYTES - controller.desiredSize!;
    if (left.signal.aborted || (!isNeeded && waiting >= MAX_PARTIAL_BYTES)) return;
    if (waiting <= MAX_WAITING_BYTES) return controller.enqueue(encoder.encode(`${line}\n\n`));
    controller.error(new Error('The client does not read.'));
    end();
  };
  const heartbeat = setInterval(() => send(': still here'), HEARTBEAT_MS);
  try {
    const gone = AbortSignal.any([call.gone, left.signal]);
    const run = await begin({ ...call, gone }, streaming, (event) => {
      for (const part of isSplit ? splitArtifacts(event) : [event]) {
        const data = publicView(shown(call, part), maySeeCredentials);
        send(`data: ${JSON.stringify(data)}`, event.partial !== true);
      }
    });
    void run.ended.then((failure) => {
      if (failure !== undefined) send(`data: ${JSON.stringify(errorData(failure))}`, true);
      if (!left.signal.aborted) controller.close();
      end();
    });
  } catch (error) {
    end();
    throw error;
  }
  return stream;
}

/**
 * Lets the agent answer the message of a body. The run is cancelled when the client leaves.
 *
 * @returns the run, once the message is stored
 * @throws HttpRefusal 403, 503; SessionError `unsupported`, `invalid_argument`, `not_found`, `agent_running`; what the
 *   agent throws before the message is stored
 */
async function begin(
  call: RouteCall,
  streaming: boolean,
  onEvent: (event: Event) => void,
): Promise<ServerRun> {
  const { signal, gone } = call;
  const runs = await requireRuns(call);
  const message = messageIn(call);
  await requireSession(call, { numRecentEvents: 0 });
  signal.throwIfAborted();
  const run = runs.begin({ ...answeredMessage(call, message, { streaming }), onEvent });
  const cancel = (): void => void run.stop('cancelled');
  const ignore = onAbort(gone, cancel);
  void run.ended.then(ignore);
  try {
    await raceSignal(signal, run.stored);
  } catch (error) {
    if (signal.aborted) cancel();
    throw error;
  }
  return run;
}

/**
 * Takes the message of a body: the user's parts, or answers to calls.
 *
 * @throws SessionError `invalid_argument`, `unsupported`
 */
function messageIn(call: RouteCall): ClientMessage {
  const { newMessage, customMetadata, stateDelta, invocationId, serviceTier } = call.body;
  const isResumed = invocationId !== undefined;
  if (newMessage === undefined) {
    throw isResumed ? cannot('invocationId', 'resume a run') : invalid('newMessage', 'is missing');
  }
  const delta = stateIn(call, stateDelta, 'stateDelta');
  const event = call.form.readEvent({
    id: newEventId(),
    invocationId: `e-${newEventId()}`,
    author: 'user',
    content: { role: 'user', ...takeContent(newMessage, 'user', 'newMessage') },
    ...(delta !== undefined && { actions: { stateDelta: delta } }),
    ...(customMetadata !== undefined && { customMetadata }),
  });
  if (partsOf(event as Event).length === 0) throw invalid('newMessage.parts', 'must have a part');
  // Beside answers it is ignored: the calls are found by their ids.
  if (isResumed && answersIn(event).length === 0) throw cannot('invocationId', 'resume a run');
  if (serviceTier !== undefined) throw cannot('serviceTier', 'choose a service tier');
  return event as ClientMessage;
}

function cannot(member: string, action: string): SessionError {
  const message = `${member} is unsupported: agents of this server cannot ${action}. Leave it out.`;
  return new SessionError('unsupported', message);
}

/** Returns an event in the form of the client. */
function shown({ form }: RouteCall, event: Event): unknown {
  return form.writeEvent(event);
}

/** Moves the artifacts of an event with content into a second event, as `adk api_server` does for `adk web`. */
function splitArtifacts(event: Event): Event[] {
  const { actions } = event;
  // An agent that is a function may yield an event without it.
  if (
    Object.keys(Object(actions.artifactDelta) as object).length === 0 ||
    partsOf(event).length === 0
  )
    return [event];
  const artifacts = { ...event };
  delete artifacts.content;
  return [{ ...event, actions: { ...actions, artifactDelta: {} } }, artifacts];
}

/** Returns what `adk api_server` sends in place of an event when a run fails. */
function errorData({ code, message }: RunFailure): object {
  const timestamp = Date.now() / 1000;
  return {
    error: `${code}: ${message}`,
    error_details: { error_type: code, error_message: message, timestamp },
  };
}
