/**
 * From the rows of a store to what callers read: sessions, lists, pages of events and states.
 *
 * The folder writes nothing to a storage. `js/core/history` computes the views. The folder knows stores by their
 * interface only.
 */
import {
  optionalBoolean,
  optionalCountOrAll,
  optionalNumber,
  requireOneOf,
} from '../../values/errors/option_values.js';
import { type Description, setDescription } from '../../values/model/description.js';
import type { Event } from '../../values/model/event/event.js';
import { isSessionId, requireId, requireUser } from '../../values/model/values/ids.js';
import type {
  CompositeSessionKey,
  GetSessionRequest,
  Session,
} from '../../values/model/session.js';
import {
  type EventCount,
  HISTORY_VIEWS,
  type HistoryView,
} from '../../values/model/values/read_options.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ReadSession, SessionRead } from '../../core/read.js';
import type { CreatedSession, MemoryStore } from '../../core/storage/store.js';
import { runPlan, runPlanNow } from '../../core/storage/reads/read_plan.js';
import { IS_OF_USER, type SharedScope } from '../../values/state/scope.js';
import { ownerOf, type StateOwner } from '../../core/storage/scopes.js';
import { type Call, takeOptions } from '../../core/call/call.js';
import type { NewSession } from '../../core/write.js';
import { replaceEvents } from '../../core/handle/event_index.js';
import type { HandleSnapshot } from '../../core/handle/handle.js';
import type { HandleFacts, HandleWindow } from '../../core/handle/handle_facts.js';
import type { ReaderParts } from './reader_parts.js';
import { MissingFunctionCalls } from './window.js';
import { parseTexts } from '../../core/storage/stored_events.js';
import { reasonOf } from '../../values/errors/describe.js';
import { SessionError } from '../../values/errors/errors.js';
import { parseJson } from '../../values/json/parse.js';

/** A request for a session, with its defaults. */
interface TakenRequest {
  readonly request: SessionRead<'window'>;
  readonly view: HistoryView;
}

/** Takes a request. Returns `undefined` if no session can have its id. */
function takeRead(request: Omit<GetSessionRequest, 'signal'>): TakenRequest | undefined {
  const { appName, userId, sessionId } = request;
  const config = request.config && takeOptions(request.config, 'config.');
  requireUser(request);
  const last = optionalCountOrAll('config.numRecentEvents', config?.numRecentEvents);
  const after = optionalNumber('config.afterTimestamp', config?.afterTimestamp);
  const skipCorrupt = optionalBoolean('config.skipCorrupt', config?.skipCorrupt) ?? false;
  const view = requireOneOf('config.view', config?.view ?? 'raw', HISTORY_VIEWS);
  if (!isSessionId(sessionId)) return undefined;
  const key = { appName, userId, sessionId };
  return { request: { kind: 'window', key, last, after, skipCorrupt }, view };
}

/** Reads sessions and states, and makes handles from what the store returns. */
export class SessionReader {
  readonly #parts: ReaderParts;
  readonly #missingCalls = new MissingFunctionCalls();

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  async get<S extends object>(
    request: Omit<GetSessionRequest, 'signal'>,
    call: Call,
  ): Promise<Session<S> | undefined> {
    const taken = takeRead(request);
    if (taken === undefined) return undefined;
    const { request: window, view } = taken;
    const read = await this.#parts.callStore<ReadSession | undefined>(call, async (store) => {
      if (view === 'raw') return store.read(window, call);
      const { views } = store.traits;
      if (views === undefined) return store.read({ ...window, view }, call);
      return runPlan(views.window(view, window), (request) => store.read(request, call));
    });
    return read && this.#openRead(taken, read);
  }

  /** Reads a session of memory at once. */
  getNow<S extends object>(
    request: Omit<GetSessionRequest, 'signal'>,
    call: Call,
    { traits, sync }: MemoryStore,
  ): Session<S> | undefined {
    const taken = takeRead(request);
    if (taken === undefined) return undefined;
    const { request: window, view } = taken;
    if (view === 'raw') {
      const read = sync.find(window, call);
      return read && this.#openRead(taken, read);
    }
    const plan = traits.views!.window(view, window);
    const read = runPlanNow(plan, (request) => sync.find(request, call));
    return read && this.#openRead(taken, read);
  }

  #openRead<S extends object>({ request, view }: TakenRequest, read: ReadSession): Session<S> {
    const { key, last = 'all', after: from } = request;
    const window = { isWhole: last === 'all' && from === undefined, afterTimestamp: from, view };
    return this.#makeHandle<S>(key, read, read.events, window, read);
  }

  /** Makes a handle on a session that was created. */
  open<S extends object>(
    { key, events, description }: NewSession,
    created: CreatedSession,
  ): Session<S> {
    // Parsed from the stored texts: a handle shares nothing with the caller's events.
    const texts = events.map(({ text }) => text);
    const parsed = parseTexts(texts);
    return this.#makeHandle<S>(key, created, parsed, { isWhole: true }, description);
  }

  /** Makes a handle on a fork, with all its events. */
  openForked(key: CompositeSessionKey, forked: ReadSession): Session {
    return this.#makeHandle(key, forked, forked.events, { isWhole: true }, forked);
  }

  /**
   * Called after an append. Adds the calls that the events answer, if the handle has the view for models and lacks
   * them.
   */
  async addMissingCalls(
    session: Session,
    { view }: HandleFacts,
    events: readonly Event[],
    call: Call,
  ): Promise<void> {
    const { appName, userId, id: sessionId } = session;
    const readLast = (numRecentEvents: EventCount): Promise<Session | undefined> => {
      // The append is stored, so a damaged event must not fail it. A later read reports the damaged
      // event.
      const config = { numRecentEvents, skipCorrupt: true, view };
      return this.get({ appName, userId, sessionId, config }, call);
    };
    if (view === 'model') await this.#missingCalls.add(session, events, readLast);
  }

  /**
   * Called after an append through a handle that merges. If the handle got an event that changes which other events its
   * view shows, reads its window again. Never fails, because the append is stored. The next append tries again.
   */
  async renewView(session: HandleSnapshot, facts: HandleFacts, call: Call): Promise<void> {
    const { appName, userId, id: sessionId, events } = session;
    while (facts.isViewStale) {
      const isWhole = facts.firstEventId !== undefined;
      // A read without a number returns all events that can be reached.
      const numRecentEvents = isWhole ? undefined : events.length;
      const config = { numRecentEvents, view: facts.view, skipCorrupt: true } as const;
      try {
        const read = await this.get({ appName, userId, sessionId, config }, call);
        if (read === undefined) return;
        // Another append through the handle was stored after the read.
        if ((this.#parts.handles.revisionOf(read.state) ?? 0) < facts.revision) continue;
        replaceEvents(session, read.events);
        facts.renewWindow(read.events);
      } catch {
        return;
      }
    }
  }

  async sharedState(
    scope: SharedScope,
    { appName, userId }: StateOwner,
    call: Call,
  ): Promise<StateShape> {
    requireId('appName', appName);
    if (IS_OF_USER[scope]) requireId('userId', userId);
    // The request for the state of the app may name a user.
    const owner = ownerOf(scope, { appName, userId });
    const text = await this.#parts.callStore<string>(call, (store) =>
      store.state({ scope, ...owner }, call),
    );
    return parseState(text, () =>
      scope === 'user' ? `user ${JSON.stringify(userId)}` : `app ${JSON.stringify(appName)}`,
    );
  }

  #makeHandle<S extends object>(
    key: CompositeSessionKey,
    read: ReadSession | CreatedSession,
    events: Event[],
    window: HandleWindow,
    description: Description,
  ): Session<S> {
    const session = (): string => `session ${JSON.stringify(key.sessionId)}`;
    const state = parseState(read.state, session) as Partial<S>;
    const handle = this.#parts.handles.open<S>(key, read, state, events, window);
    return setDescription(handle, description);
  }
}

/**
 * Parses the JSON object of a state. The core has merged it, so only its depth can be wrong.
 *
 * @param owner returns whose state it is, for the error
 * @throws SessionError `corrupt_record`
 */
function parseState(text: string, owner: () => string): StateShape {
  try {
    return parseJson(text) as StateShape;
  } catch (cause) {
    const record = `state of ${owner()}`;
    const message = `The stored ${record} cannot be read: ${reasonOf(cause)}.`;
    throw new SessionError('corrupt_record', message, { record, cause });
  }
}
