import { KeyedQueue } from '../../core/call/scheduling.js';
import { takeRequest } from '../../core/call/call.js';
import { titleOf } from '../../values/model/event/auto_title.js';
import type { HostStream } from '../../values/model/host.js';
import type { Session, SessionChanges } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import { type AssistantSessions, serviceOf } from './history.js';
import type { GivenPart } from './messages.js';
import { findSessions } from '../live/found_sessions.js';

/** The options of {@link sessionThreadList}. */
export interface SessionThreadListOptions<
  S extends object = StateShape,
> extends AssistantSessions<S> {
  /** The number of threads of a page of the list. Default 100. */
  readonly limit?: number | undefined;
}

/** A session as a thread of assistant-ui. */
export interface SessionThread {
  /** The id of the session. */
  readonly remoteId: string;
  /** `'archived'` if the session has the label `archived` with the value `yes`. */
  readonly status: 'regular' | 'archived';
  /** Absent without a title. */
  readonly title?: string;
  /** When the session was last updated. */
  readonly lastMessageAt: Date;
  /** The other labels. */
  readonly custom: Record<string, string>;
}

/** The threads that a search has found. */
export interface FoundThreads {
  /** The newest first. */
  threads: SessionThread[];
  /** Whether all texts were searched. If not, a later search may find more. */
  isComplete: boolean;
}

interface ThreadsPage {
  threads: SessionThread[];
  /** Absent on the last page. */
  nextCursor?: string;
}

/** The sessions of a user as threads: a `RemoteThreadListAdapter` of assistant-ui. */
export interface SessionThreadList {
  /** Lists threads, the newest first. `after` is the `nextCursor` of the page before. */
  list(page?: { after?: string | undefined }): Promise<ThreadsPage>;
  /**
   * Finds threads by what was said in them and by their titles, the newest first: those of the first 100 hits. For a
   * search field: assistant-ui has none.
   */
  search(query: string): Promise<FoundThreads>;
  /** Returns a thread. */
  fetch(remoteId: string): Promise<SessionThread>;
  /** Creates a session with a fresh id, and with the values of `custom` as labels. */
  initialize(
    threadId: string,
    options?: { custom?: Record<string, unknown> | undefined },
  ): Promise<Pick<SessionThread, 'remoteId'>>;
  /** Changes the title. */
  rename(remoteId: string, title: string): Promise<void>;
  /** Replaces the labels, except `archived`. */
  updateCustom(remoteId: string, custom: Record<string, unknown> | undefined): Promise<void>;
  /** Gives the session the label `archived`. */
  archive(remoteId: string): Promise<void>;
  /** Removes the label `archived`. */
  unarchive(remoteId: string): Promise<void>;
  /** Deletes the session. */
  delete(remoteId: string): Promise<void>;
  /** Returns the title. A session without one gets the beginning of the first message of the user. */
  generateTitle(
    remoteId: string,
    messages: readonly { readonly role: string; readonly content: readonly GivenPart[] }[],
  ): Promise<HostStream>;
}

const ARCHIVED = 'archived';
const MARK = { [ARCHIVED]: 'yes' };

/**
 * Returns an adapter with which the list of threads of assistant-ui shows the sessions of a user. Its methods reject
 * as those of the service, and with `not_found` if there is no such session.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { sessionThreadList } from 'adk-session-wasm/assistant-ui';
 *
 * const service = new InMemorySessionService();
 * const threads = sessionThreadList({ service, appName: 'shop', userId: 'ada' });
 * const { remoteId } = await threads.initialize('local-1');
 * await threads.rename(remoteId, 'Green tea');
 * console.log((await threads.list()).threads[0]?.title); // Green tea
 * ```
 */
export function sessionThreadList<S extends object = StateShape>(
  options: SessionThreadListOptions<S>,
): SessionThreadList {
  const taken = takeRequest(options);
  const { appName, userId, limit = 100 } = taken;
  const service = serviceOf(taken);
  /** A change that follows from what is stored must not miss one before it. */
  const writes = new KeyedQueue();
  const keyOf = (sessionId: string) => ({ appName, userId, sessionId });

  const read = async (remoteId: string): Promise<Session<S>> => {
    const request = { ...keyOf(remoteId), config: { numRecentEvents: 0 } };
    const session = await (await service()).getSession(request);
    if (session === undefined) throw sessionNotFound(remoteId);
    return session;
  };

  const update = async (remoteId: string, changes: SessionChanges): Promise<void> =>
    (await service()).updateSession(keyOf(remoteId), changes);

  const setLabels = (
    remoteId: string,
    labelsOf: (thread: SessionThread) => Record<string, unknown>,
  ): Promise<void> =>
    writes.run(remoteId, async () => {
      // The service refuses a label that is no text.
      const labels = labelsOf(threadOf(await read(remoteId))) as Record<string, string>;
      await update(remoteId, { labels });
    });

  return {
    async list({ after: cursor } = {}) {
      const request = { appName, userId, limit, cursor, order: 'desc', withTotal: false } as const;
      const list = await service();
      const { sessions, nextCursor } = await list.listSessions({ ...request, stateKeys: [] });
      return { threads: sessions.map(threadOf), ...(nextCursor !== undefined && { nextCursor }) };
    },
    async search(query) {
      const request = { appName, userId, query };
      const { sessions, isComplete } = await findSessions(await service(), request);
      return { threads: sessions.map(threadOf), isComplete };
    },
    fetch: async (remoteId) => threadOf(await read(remoteId)),
    async initialize(_, { custom } = {}) {
      const labels = custom as Record<string, string> | undefined;
      const { id } = await (await service()).createSession({ appName, userId, labels });
      return { remoteId: id };
    },
    rename: (remoteId, title) => writes.run(remoteId, () => update(remoteId, { title })),
    updateCustom: (remoteId, custom) =>
      setLabels(remoteId, ({ status }) => ({ ...custom, ...(status === ARCHIVED && MARK) })),
    archive: (remoteId) => setLabels(remoteId, ({ custom }) => ({ ...custom, ...MARK })),
    unarchive: (remoteId) => setLabels(remoteId, ({ custom }) => custom),
    delete: async (remoteId) => (await service()).deleteSession(keyOf(remoteId)),
    generateTitle: (remoteId, messages) =>
      writes.run(remoteId, async () => {
        const session = await read(remoteId);
        const first = messages.find(({ role }) => role === 'user');
        const parts = first?.content.map(({ text }) => ({ text }));
        const title =
          session.title ?? titleOf(JSON.stringify({ author: 'user', content: { parts } }));
        if (title !== undefined && session.title === undefined) await update(remoteId, { title });
        return streamOf(title);
      }),
  };
}

function threadOf({ id, title, labels, lastUpdateTime }: Session): SessionThread {
  const { [ARCHIVED]: archived, ...custom } = { ...labels };
  return {
    remoteId: id,
    status: archived === 'yes' ? 'archived' : 'regular',
    ...(title !== undefined && { title }),
    lastMessageAt: new Date(lastUpdateTime),
    custom,
  };
}

/** Returns the stream of an assistant's message with this text. */
function streamOf(text: string | undefined): HostStream {
  const chunks = [
    { type: 'part-start', path: [], part: { type: 'text' } },
    { type: 'text-delta', path: [0], textDelta: text },
    { type: 'part-finish', path: [0] },
  ];
  return new ReadableStream({
    start(controller) {
      for (const chunk of text === undefined ? [] : chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
