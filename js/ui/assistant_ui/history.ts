import { takeRequest } from '../../core/call/call.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import { nextLast } from '../../core/storage/reads/read_plan.js';
import type { EventCount, HistoryView } from '../../values/model/values/read_options.js';
import { type GivenService, givenService } from '../../core/call/given_service.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import {
  requireObject,
  requireOneOf,
  requireText,
  requireWhole,
} from '../../values/errors/option_values.js';
import { invalidValue, sessionNotFound } from '../../values/errors/invalid.js';
import { requireUser } from '../../values/model/values/ids.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { GivenItem, LinkedMessage } from './messages.js';

/** The service and the user whose sessions are the threads of assistant-ui. */
export interface AssistantSessions<S extends object = StateShape> {
  /** The service, or the promise of `openSessionService`. */
  readonly service: SessionService<S> | Promise<SessionService<S>>;
  /** The app. */
  readonly appName: string;
  /** The user. */
  readonly userId: string;
}

/** The options of {@link sessionHistory}. */
export interface SessionHistoryOptions<S extends object = StateShape> extends AssistantSessions<S> {
  /** The author of the events of an assistant's messages. Default `'assistant'`. */
  readonly agentName?: string | undefined;
  /**
   * `'chat'`: the history stores every message that the chat appends. `'agent'`: the chat's run stores its events
   * itself, as a `Runner` does, and the history only reads them. Default `'chat'`.
   */
  readonly storedBy?: 'chat' | 'agent' | undefined;
  /** The most events that are read of a thread, without its other branches. Default: all, with them. */
  readonly window?: number | undefined;
}

/** The thread that a history belongs to: `aui.threadListItem` of assistant-ui. */
interface ThreadListItem {
  getState(): { readonly remoteId?: string | undefined };
  initialize(): Promise<{ readonly remoteId: string }>;
}

interface LoadedMessages {
  messages: LinkedMessage[];
  /** The last message of the branch that is shown. */
  headId?: string;
}

/** The messages of one thread: a `ThreadHistoryAdapter` of assistant-ui. */
export interface SessionHistory {
  /** Returns the messages of the thread; none of a thread that is not stored. */
  load(): Promise<LoadedMessages>;
  /**
   * Stores a message as events. Messages are stored in the order of the calls. If the message follows another one than
   * the last, as an edited one does, its branch is shown first, by a rewind: agents read the branch that the chat
   * shows.
   *
   * @throws SessionError as `appendEvents` of the service; `not_found` if the session was deleted; `invalid_argument`
   *   with the `key` if the message is not one of assistant-ui
   */
  append(item: GivenItem): Promise<void>;
  /** Stores a message again, in its place. */
  update(item: GivenItem): Promise<void>;
}

/** How many events are read at first for a message that is stored again. Mostly it is one of the last. */
const FIRST_WINDOW = 32;

const METHODS = ['listSessions', 'updateSession'] as const;

/**
 * Returns a function that resolves to the service.
 *
 * @throws SessionError `invalid_argument`
 */
export function serviceOf<S extends object>({
  service,
  appName,
  userId,
}: AssistantSessions<S>): () => GivenService<SessionService<S>> {
  requireUser({ appName, userId });
  return givenService(service, METHODS);
}

/** @throws SessionError `invalid_argument` if it has no message of assistant-ui */
function requireMessage(item: GivenItem): void {
  requireObject('The request', item);
  const { message } = item;
  requireObject('message', message);
  const { content, attachments = [], metadata } = message;
  requireObject('message.metadata', metadata);
  requireObjects('message.content', content);
  requireObjects('message.attachments', attachments);
  attachments.forEach(({ content }, index) =>
    requireObjects(`message.attachments[${index}].content`, content),
  );
}

function requireObjects(key: string, values: unknown): void {
  if (!Array.isArray(values)) throw invalidValue(key, 'must be an array', values);
  values.forEach((value, index) => requireObject(`${key}[${index}]`, value));
}

/**
 * Returns the history of a thread of assistant-ui: its messages are the events of a session.
 *
 * @param threadListItem returns the thread; called when the history is used
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { sessionHistory } from 'adk-session-wasm/assistant-ui';
 *
 * const service = new InMemorySessionService();
 * const { id: remoteId } = await service.createSession({ appName: 'shop', userId: 'ada' });
 * // With assistant-ui, `() => useAui().threadListItem` takes the place of this thread.
 * const thread = { getState: () => ({ remoteId }), initialize: async () => ({ remoteId }) };
 * const history = sessionHistory({ service, appName: 'shop', userId: 'ada' }, () => thread);
 * const { messages } = await history.load();
 * console.log(messages.length); // 0
 * ```
 */
export function sessionHistory<S extends object = StateShape>(
  options: SessionHistoryOptions<S>,
  threadListItem: () => ThreadListItem,
): SessionHistory {
  const taken = takeRequest(options);
  const { appName, userId, agentName = 'assistant', storedBy = 'chat', window } = taken;
  const service = serviceOf(taken);
  requireOneOf('storedBy', storedBy, ['chat', 'agent']);
  requireText('agentName', agentName);
  // The messages of these would be read as messages of the user, or of nobody.
  if (agentName === 'user' || agentName === '') {
    throw invalidValue('agentName', "must be the name of an agent, not 'user'", agentName);
  }
  if (window !== undefined) requireWhole('window', window, 1, Infinity);
  const writes = new KeyedQueue<undefined>();

  const readSession = async (
    sessionId: string,
    numRecentEvents: number | undefined,
    view: HistoryView,
  ) => {
    const config = { numRecentEvents, view };
    return (await service()).getSession({ appName, userId, sessionId, config });
  };

  /** Reads a session from the event on, or all of it if it has no such event. */
  const readSince = async (sessionId: string, eventId: string | undefined) => {
    let last: EventCount = FIRST_WINDOW;
    while (last !== 'all') {
      const session = await readSession(sessionId, last, 'raw');
      const { events = [] } = session ?? {};
      if (events.length < last || events.some(({ id }) => id === eventId)) return session;
      last = nextLast(last);
    }
    return readSession(sessionId, undefined, 'raw');
  };

  const write = async (item: GivenItem, sessionId: string, isAgain: boolean): Promise<void> => {
    const { appendAfter, eventsOf, emptied } = await loadChunk(() => import('./conversion.js'));
    const events = eventsOf(item, agentName);
    if (events.length === 0) return;
    // All events of a message stand after its first one.
    const session = await (isAgain
      ? readSince(sessionId, events[0]!.id)
      : readSession(sessionId, FIRST_WINDOW, 'transcript'));
    if (session === undefined) throw sessionNotFound(sessionId);
    const key = { appName, userId, sessionId };
    if (!isAgain) return appendAfter(await service(), key, session, item.parentId, events);
    events.push(...emptied(session.events, events));
    await (await service()).appendEvents({ session, events });
  };

  const store = async (item: GivenItem, isAgain: boolean): Promise<void> => {
    if (storedBy === 'agent') return;
    requireMessage(item);
    const thread = threadListItem();
    const initializing = thread.initialize();
    // The write rejects with the error. It may first wait for an earlier one.
    initializing.catch(() => undefined);
    return writes.run(undefined, async () => write(item, (await initializing).remoteId, isAgain));
  };

  return {
    async load() {
      const { remoteId } = threadListItem().getState();
      if (remoteId === undefined) return { messages: [] };
      const isWhole = window === undefined;
      const session = await readSession(remoteId, window, isWhole ? 'raw' : 'transcript');
      const { messagesOf, viewOf } = await loadChunk(() => import('./conversion.js'));
      const { events = [] } = session ?? {};
      return messagesOf(events, isWhole ? viewOf(events, 'transcript').events : events);
    },
    append: (item) => store(item, false),
    update: (item) => store(item, true),
  };
}
