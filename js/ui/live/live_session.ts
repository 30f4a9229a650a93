import { takeOptions } from '../../core/call/call.js';
import type { GivenService } from '../../core/call/given_service.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import type { TurnBranches } from '../../core/history/index.js';
import { coreOf, requireMessageFits } from '../../core/core_of.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import type { AttachedFile } from '../../values/model/artifact.js';
import type { Content } from '../../values/model/event/content.js';
import { createEventActions, newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { filesOf, MESSAGE_FILES } from '../../values/model/event/message_files.js';
import { partsOf, requireSendable, takeContent } from '../../values/model/event/parts.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { ComputeDelta, StateDelta, StateShape } from '../../values/state/state_shape.js';
import { copyEvent, copyState } from '../../service/runs/agent/copies.js';
import type { RunAgent, SentEvent } from '../../service/runs/agent/run_context.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { Answers } from '../../service/runs/user_answers.js';
import { branchChange, type TurnChange, turnChange } from './turn_changes.js';
import { takeAttached } from '../../stores/artifacts/given_files.js';
import { forgottenError } from './reading_store.js';
import { cachingOf, type Send } from './snapshot/unsent_events.js';
import type { AskOptions, AttachOptions, LiveSession, LiveSessionOptions } from './types.js';
import { WatchedSession } from './watched_session.js';

/** What users do with a session that they watch. */
export class LiveSessionStore<S extends object>
  extends WatchedSession<S>
  implements LiveSession<S>
{
  /** The changes of the state and the title. Services may run calls at the same time in any order. */
  readonly #changes = new KeyedQueue<undefined>();

  constructor(
    service: GivenService<SessionService<S>>,
    key: CompositeSessionKey,
    options: LiveSessionOptions<S>,
  ) {
    const taken = takeOptions(options);
    super(service, key, taken);
    this.initialState = taken.initialState;
    this.agent = taken.run;
  }

  /** The state of a session that the store creates. */
  set initialState(state: Partial<S> | undefined) {
    this.handle.initialState = state;
  }

  /** The agent that answers. */
  set agent(agent: RunAgent | undefined) {
    this.runs.agent = agent;
  }

  async ask(content: Content | string, options: AskOptions<S> = {}): Promise<Event> {
    const { streaming = true, stateDelta, onShown, ...taken } = takeOptions(options);
    const actions = stateDelta && { actions: createEventActions({ stateDelta }) };
    const files = filesIn(taken);
    const message = messageOf(content, files, actions);
    const ask = (message: Event): Promise<Event> => {
      const asked = this.#ask(message, streaming);
      onShown?.();
      return asked;
    };
    return files !== undefined ? this.#attach(message, files, ask, 'ask') : ask(message);
  }

  async answer(answers: Answers): Promise<Event> {
    const message = await this.runs.answer(this.use(await this.service()), answers);
    await this.refresh();
    return message;
  }

  async cancel(messageId?: string): Promise<void> {
    const { pages } = this.history.list;
    await this.runs.cancel(this.use(await this.service()), messageId, pages, this.isRefused);
    await this.refresh();
  }

  async send(given: SentEvent, options: AttachOptions = {}): Promise<Event> {
    if (this.isForgotten) throw forgottenError();
    const event = copyEvent(given, 'user');
    requireSendable('event.content', event);
    const files = filesIn(takeOptions(options));
    if (event.partial === true) {
      throw invalid(
        'event.partial',
        'must not be true: only an agent yields partial events; see the option run',
      );
    }
    if (this.history.undone.has(event.invocationId)) {
      const message = 'A rewind has undone the invocation of the event.';
      throw new SessionError('stale_session', message, { staleReason: 'undone' });
    }
    const send = (message: Event): Promise<Event> => this.#send(message);
    if (files !== undefined) return this.#attach(event, files, send, 'send');
    if (event.customMetadata?.[MESSAGE_FILES] === undefined) return send(event);
    const { withFiles } = await loadChunk(() => import('../../service/artifacts/homes.js'));
    // A copy of a stored message may have another content.
    return send(withFiles(event, filesOf(event)));
  }

  async edit(
    eventId: string,
    content: Content | string,
    options: AttachOptions = {},
  ): Promise<Event> {
    const files = filesIn(takeOptions(options));
    const message = messageOf(content, files);
    return this.#changeTurn(eventId, message, files);
  }

  regenerate(eventId: string): Promise<Event> {
    return this.#changeTurn(eventId);
  }

  async branches(): Promise<readonly TurnBranches[]> {
    const { branches } = this.history;
    if (!this.isActive) branches.forget();
    return branches.read(this.use(await this.service()), this.key);
  }

  async switchBranch(branch: string): Promise<void> {
    const change = branchChange(this.key, branch);
    const service = this.use(await this.service());
    this.runs.requireRewinds(service, 'switchBranch');
    await this.runs.rewind(service, (running) => this.#changeHistory(change, running));
  }

  async retry(eventId: string): Promise<Event | undefined> {
    const sent = this.unsent.sendOf(eventId);
    if (this.runs.loaded?.runs.retry(eventId) === true) return sent?.event;
    const { error, blockedBy } = this.unsent.states[eventId] ?? {};
    if (error === undefined && blockedBy === undefined) return undefined;
    if (sent?.streaming !== undefined) return this.#ask(sent.event, sent.streaming);
    if (sent !== undefined) return this.#send(sent.event);
    const { outbox } = cachingOf(this.use(await this.service())) ?? {};
    const entries = (await outbox?.list(this.key)) ?? [];
    const isOfEvent = ({ id }: Event): boolean => id === eventId;
    const entry = entries.find(({ error, events }) => error && events.some(isOfEvent));
    if (entry !== undefined) await outbox?.retry(entry);
    return this.history.list.get(eventId);
  }

  async discard(eventId: string): Promise<void> {
    const isQueued = this.runs.loaded?.runs.isQueued(eventId) === true;
    const sent = this.unsent.sendOf(eventId);
    // Its turn has come, and nobody knows yet whether it is stored.
    const isSending = sent?.streaming !== undefined && sent.state.error === undefined && !isQueued;
    const { error, blockedBy } = this.unsent.states[eventId] ?? {};
    const isToCancel = isSending || (blockedBy === undefined && this.isWaiting(eventId));
    if (isToCancel) return this.cancel(eventId);
    if (!isQueued && error === undefined && blockedBy === undefined) return;
    if (sent !== undefined) {
      this.unsent.setSend(eventId, undefined);
      if (isQueued) await this.runs.loaded?.runs.cancel(eventId, undefined);
      await this.#deleteCreated();
      return this.changed();
    }
    await this.change(async (service) => cachingOf(service)?.outbox.drop(this.key, eventId));
  }

  async updateState(given: StateDelta<S> | ComputeDelta<S>): Promise<void> {
    const stateDelta = copyState(given);
    await this.#change((service) => service.updateState({ ...this.key, stateDelta }));
  }

  rename(title: string | null): Promise<void> {
    return this.#change((service) => service.updateSession(this.key, { title }));
  }

  remove(): Promise<void> {
    return this.change(async (service) => {
      await service.deleteSession(this.key);
      this.setGone('deleted');
    });
  }

  /** Shows a message at once, and asks it: it is stored when its run begins. */
  #ask(shown: Event, streaming: boolean): Promise<Event> {
    return this.#store({ event: shown, state: {}, streaming }, (service) => {
      requireMessageFits(this.runs.serverAgent(service), JSON.stringify(shown));
      return this.runs.ask(service, {
        id: shown.id,
        callIds: [],
        streaming,
        isOfRewind: false,
        admit: async () => {
          const { wasThere } = this.head;
          let session: Session | undefined;
          if (this.runs.needsSession) {
            await this.handle.require(service, wasThere);
          } else session = await this.handle.requireNew(service, wasThere);
          return { message: copyEvent(shown), isStored: false, session };
        },
      });
    });
  }

  /** Puts the files of a message before it is shown or stored. @param store shows it before it returns */
  async #attach(
    message: Event,
    files: readonly AttachedFile[],
    store: (message: Event) => Promise<Event>,
    method?: 'ask' | 'send',
  ): Promise<Event> {
    const { attachFiles } = await loadChunk(() => import('../../service/artifacts/homes.js'));
    const service = this.use(await this.service());
    const { handle, key } = this;
    return attachFiles(message, files, {
      service,
      key,
      handle,
      store,
      isInline: method === 'ask' && (await this.runs.isOfApiServer(service)),
      openSession: method && (() => handle.require(service, this.head.wasThere, 'if absent')),
      giveUp: (isUsed) => this.#deleteCreated(isUsed),
    });
  }

  #send(shown: Event): Promise<Event> {
    return this.#store({ event: shown, state: {} }, async (service) => {
      // The append changes its event, and nothing may change one of a snapshot.
      const event = copyEvent(shown);
      const session = await this.handle.append(service, event, this.head);
      this.handle.noteAppended(event);
      await this.#reach(service.revisionOf(session));
      return event;
    });
  }

  /** Shows an event until `write` has stored it, and then as it is stored. */
  async #store(sent: Send, write: (service: SessionService<S>) => Promise<Event>): Promise<Event> {
    if (this.isForgotten) throw forgottenError();
    const { event: shown } = sent;
    this.unsent.setSend(shown.id, sent);
    this.changed();
    try {
      const service = this.use(await this.service());
      const stored = write(service);
      coreOf(service)?.noteStoring(stored);
      const event = await stored;
      this.noteKept(event.id, service);
      if (sent.streaming !== undefined && this.isActive) await this.refresh();
      // Without subscribers, or after an error, the event was not read. The next read puts it in its place.
      const wasRead = this.isActive && this.error === undefined;
      if (!wasRead && this.head.status !== 'deleted' && !this.history.list.get(shown.id)) {
        const stored = event.id === shown.id ? shown : copyEvent(event);
        if (this.history.changesOthers(stored)) this.noteAll();
        else this.history.list.append(stored);
      }
      this.unsent.endSend(sent);
      return event;
    } catch (error) {
      // A message that was given up is gone.
      const isGivenUp = sent.streaming !== undefined && isSessionError(error, 'aborted');
      if (!this.isForgotten) {
        this.unsent.endSend(sent, isGivenUp ? undefined : { ...sent, state: { error } });
        if (isGivenUp) await this.#deleteCreated();
      }
      throw error;
    } finally {
      this.changed();
    }
  }

  /** Deletes the session if it was created for a message that was then given up, and if nobody has changed it since. */
  async #deleteCreated(isUsed?: () => Promise<boolean>): Promise<void> {
    const service = this.use(await this.service());
    // Another message may need it.
    const isNeeded = (): boolean => this.unsent.events.length > 0;
    // It is no error that the session stays, for example because this client may not delete it.
    const isDeleted = await this.handle.deleteCreated(service, isNeeded, isUsed).catch(() => false);
    if (!isDeleted) return;
    const leave = (): void => {
      this.handle.drop();
      this.setGone('missing');
    };
    leave();
    const { openings } = this.handle;
    await this.reading;
    // That read may have found the session still. Another one would take it for deleted by somebody else. A message that was
    // sent meanwhile has created a new one.
    if (this.handle.openings === openings) leave();
  }

  async #changeTurn(
    eventId: string,
    edited?: Event,
    given?: readonly AttachedFile[],
  ): Promise<Event> {
    const service = this.use(await this.service());
    const isOfServer = (await this.runs.findServerAgent(service)) !== undefined;
    this.runs.requireRewinds(service, edited === undefined ? 'regenerate' : 'edit');
    const run = isOfServer ? { streaming: true } : undefined;
    const { id = newEventId() } = edited ?? {};
    // Its session is there, so nothing is deleted.
    const keep = (message: Event): Promise<Event> => Promise.resolve(message);
    const message =
      edited && given !== undefined ? await this.#attach(edited, given, keep) : edited;
    const change = turnChange({ ...this.key, eventId, edited: message, run, messageId: id });
    if (this.runs.agent === undefined && !isOfServer) {
      const message = await this.#changeHistory(change);
      this.handle.noteAppended(message);
      return message;
    }
    return this.runs.askAfter(service, id, (running) => this.#changeHistory(change, running));
  }

  /** Rewinds the session, and reads it again, also without subscribers: `send` refuses what was undone. */
  async #changeHistory<Result>(
    change: TurnChange<Result>,
    running?: () => RunUnderWay | undefined,
  ): Promise<Result> {
    const service = this.use(await this.service());
    return this.#changes.run(undefined, async () => {
      const result = await change(this.use(service), running);
      await this.reread();
      return result;
    });
  }

  async #change(write: (service: SessionService<S>) => Promise<unknown>): Promise<void> {
    await this.change((service) =>
      this.#changes.run(undefined, async () => {
        const kept = this.use(service);
        if (this.head.status !== 'ready') await this.handle.require(kept, this.head.wasThere);
        await write(this.use(service));
      }),
    );
  }

  /** Waits until a change of this store is in its snapshot. */
  async #reach(revision = 0): Promise<void> {
    for (let tries = 2; tries > 0 && (this.isActive || this.reading !== undefined); tries -= 1) {
      if (this.head.revision !== undefined && this.head.revision >= revision) return;
      await (this.reading ?? this.refresh());
    }
  }
}

/** Takes the files of a call. An empty list is none. */
function filesIn({ files }: AttachOptions): readonly AttachedFile[] | undefined {
  if (Array.isArray(files) && files.length === 0) return undefined;
  const given = files ?? undefined;
  return given && takeAttached(given);
}

/** Takes a message. With files it may have no part of its own. @throws SessionError `invalid_argument` */
function messageOf(
  given: Content | string,
  files: readonly AttachedFile[] | undefined,
  more: Partial<Event> = {},
): Event {
  const author = 'user';
  const content = takeContent(given, author, 'content');
  const message = copyEvent({ author, content, ...more });
  requireSendable('content', message);
  if (files !== undefined || partsOf(message).length > 0) return message;
  throw invalid('content.parts', 'must have a part');
}

/**
 * Returns a store that shows a session as it is now, whoever changes it: this tab, another one, or, where the service
 * reports it, another client of a server. It reads and watches only while it has subscribers.
 *
 * @throws SessionError `invalid_argument`
 *
 * @example
 * ```ts
 * import { InMemorySessionService } from 'adk-session-wasm';
 * import { liveSession } from 'adk-session-wasm/live';
 *
 * const service = new InMemorySessionService();
 * const chat = liveSession(service, { appName: 'shop', userId: 'ada', sessionId: 's1' }, { window: 20 });
 * const stop = chat.subscribe(({ status, events }) => console.log(status, events.length));
 * await chat.send({ author: 'user', content: { role: 'user', parts: [{ text: 'Which tea?' }] } });
 * stop();
 * ```
 */
export function liveSession<S extends object = StateShape>(
  service: SessionService<S> | Promise<SessionService<S>>,
  key: CompositeSessionKey,
  options: LiveSessionOptions<S> = {},
): LiveSession<S> {
  return new LiveSessionStore(service, key, options);
}
