import type { Runner } from '@google/adk';
import { coreOf, findArtifacts } from '../../core/core_of.js';
import { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { withContent } from '../../values/model/event/place_files.js';
import {
  RUN_STORE,
  type RunAgent,
  type RunContext,
  type RunStore,
  type SentEvent,
  STORES_MESSAGE,
} from '../runs/agent/run_context.js';
import {
  type FrameworkSessionService,
  type ServedRun,
  serviceForRun,
} from './framework_session_service.js';
import { unknownFramework } from './framework_version.js';

/**
 * Makes an agent for messages of a `Runner`: the message's event keeps its id, and all events of the run belong to the
 * message's invocation. The runner's service must be one of this package, over the same storage as the session. A runner
 * without an artifact service, or with that of the session's service, gets the `artifacts` of the run.
 *
 * @throws SessionError `invalid_argument` if the runner has another service
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { asAdkService, runWith } from 'adk-session-wasm/adk';
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService: asAdkService(service) });
 * const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
 * const chat = liveSession(service, key, { run: runWith(runner) });
 * ```
 */
export function runWith(runner: Runner): RunAgent {
  const given = Object(runner) as Partial<Runner>;
  if (typeof given.runAsync !== 'function' || given.sessionService === undefined) {
    throw invalid('runner', "must be a Runner of '@google/adk'");
  }
  const run = (context: RunContext): AsyncIterable<SentEvent> => runOnce(runner, context);
  return Object.assign(run, { agentName: runner.agent.name, [STORES_MESSAGE]: true });
}

async function* runOnce(runner: Runner, context: RunContext): AsyncGenerator<SentEvent> {
  const { userId, sessionId, message, streaming, signal } = context;
  const store = context[RUN_STORE] ?? NO_RUN;
  let isStored = false;
  const appendOwn: ServedRun['append'] = async (request, append) => {
    if (signal.aborted) throw new SessionError('aborted', 'The run was cancelled.');
    if (isStored && request.event.id === message.id) {
      throw invalid('event.id', 'is the id of the message that the run answers');
    }
    const { author, invocationId } = request.event;
    // A compactor of the framework replaces events of earlier invocations. A message that is stored may be appended
    // later.
    if (isStored || (store.isStored && author !== 'user')) return append(request);
    if (author !== 'user' || invocationId !== message.invocationId) {
      throw unknownFramework('runs a message');
    }
    isStored = true;
    const { content } = request.event as Partial<Event>;
    const isChanged = JSON.stringify(content) !== JSON.stringify(newMessage);
    await store.storeMessage({
      service: { appendEvent: append as RunContext['service']['appendEvent'] },
      session: request.session,
      ...(isChanged && { content }),
      message,
    });
    return message;
  };
  const append: ServedRun['append'] = (request, append) =>
    request.session.id === sessionId
      ? store.own(async () => appendOwn(request, append))
      : append(request);
  const newMessage = structuredClone(message.content ?? {});
  newMessage.role ??= 'user';
  // The runner may change it.
  const given: unknown = structuredClone(newMessage);
  const { stateDelta } = message.actions;
  const storedMessageId = store.isStored ? message.id : undefined;
  const service = await store.own(() =>
    Promise.resolve().then(() => sessionServiceOf(runner, context, { append, storedMessageId })),
  );
  const events = runnerWith(runner, service, context).runAsync({
    userId,
    sessionId,
    newMessage: given as Parameters<Runner['runAsync']>[0]['newMessage'],
    ...(Object.keys(stateDelta).length > 0 && { stateDelta }),
    abortSignal: signal,
    ...(streaming && { runConfig: { streamingMode: 'sse' as StreamingMode } }),
  });
  for await (const event of events) {
    if (!isStored && !store.isStored)
      await store.own(() => Promise.reject(unknownFramework('runs a message')));
    yield event;
  }
}

/** For a context that no run has made: the runner's own append stores the message, unless it is stored. */
const NO_RUN: RunStore = {
  isStored: false,
  async storeMessage({ service, session, message, content }) {
    const event = content === undefined ? { ...message } : withContent(message, content);
    await service.appendEvent({ session, event, expectedEvents: { [event.id]: null } });
  },
  own: (work) => work(),
};

type RunConfig = NonNullable<Parameters<Runner['runAsync']>[0]['runConfig']>;
type StreamingMode = NonNullable<RunConfig['streamingMode']>;

/**
 * @throws SessionError `invalid_argument` if the runner is of another app, or its service not over the storage of the
 * session
 */
function sessionServiceOf(
  { sessionService, appName }: Runner,
  { service, appName: asked }: RunContext,
  run: ServedRun,
): FrameworkSessionService {
  if (appName !== asked) {
    throw invalid('runner', `is of the app "${appName}", and the session of "${asked}"`);
  }
  const view = serviceForRun(sessionService, run);
  if (view !== undefined && storeOf(view) === storeOf(service)) return view;
  const text = 'must have a service of adk-session-wasm/adk over the storage of the session';
  throw invalid('runner.sessionService', `${text}, such as asAdkService(service)`);
}

/** Returns what all services over one storage share, so far as this realm knows. */
function storeOf(service: object): object {
  return coreOf(service)?.publisher.feed ?? service;
}

/**
 * Returns a view of the runner that uses a service, and gives its run the invocation of the message, and the files of the
 * run. A runner with another artifact service keeps that.
 */
function runnerWith(
  runner: Runner,
  sessionService: FrameworkSessionService,
  { message: { invocationId }, artifacts, service }: RunContext,
): Runner {
  const { pluginManager, artifactService: given } = runner;
  const isOwn = given === undefined || given === findArtifacts(service);
  const artifactService = isOwn && artifacts !== undefined ? artifacts : given;
  const callback = pluginManager.runOnUserMessageCallback.bind(pluginManager);
  const runOnUserMessageCallback: typeof callback = (given) => {
    // Read-only in the types alone.
    Object.assign(given.invocationContext, { invocationId });
    return callback(given);
  };
  return Object.create(runner, {
    sessionService: { value: sessionService },
    artifactService: { value: artifactService },
    pluginManager: {
      value: Object.create(pluginManager, {
        runOnUserMessageCallback: { value: runOnUserMessageCallback },
      }) as Runner['pluginManager'],
    },
  }) as Runner;
}
