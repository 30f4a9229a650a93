import { coreOf } from '../../core/core_of.js';
import { isSessionError } from '../../values/errors/errors.js';
import { sessionNotFound } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { isAnswer, isFinalResponse } from '../../values/model/event/final_response.js';
import type { CompositeSessionKey, Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';

type OpenedHandle<S extends object> = Promise<Session<S> | undefined>;

type Creates = 'now' | 'if absent' | 'with append';

/** The handle that a store's appends go through. It never gets events: each append uses a copy with its own array. */
export class AppendHandle<S extends object> {
  /** Absent until an append needs it. */
  opening: OpenedHandle<S> | undefined;
  /** How often it was opened for an append. */
  openings = 0;
  /** The number of appends under way. */
  #appends = 0;
  /** The invocations that have an event by this handle, and no final answer yet. */
  readonly #invocations = new Set<string>();
  /** The revision of a session that this handle has created. */
  #createdRevision: number | undefined;
  /** The last handle that may create its session with its first append. */
  #new: Session<S> | undefined;
  /** The state of a session that is created. */
  initialState: Partial<S> | undefined;
  readonly #key: CompositeSessionKey;
  readonly #use: (service: SessionService<S>) => SessionService<S>;

  /** @param use asked before each call of the service: throws if what the store shows was forgotten */
  constructor(key: CompositeSessionKey, use: (service: SessionService<S>) => SessionService<S>) {
    this.#key = key;
    this.#use = use;
  }

  /**
   * Takes another handle for the next append. Does nothing while appends are under way: a service keeps the order of
   * appends only if they go through one handle. Does nothing while an invocation is under way either: it is no run that
   * the service remembers, so only the position of this handle tells that a later rewind has undone it.
   */
  replace(session: Session<S>): void {
    if (this.#appends === 0 && this.#invocations.size === 0)
      this.opening = Promise.resolve(session);
  }

  /** Drops the handle of a deleted session. */
  drop(): void {
    this.opening = undefined;
    this.#invocations.clear();
  }

  /** Notes that an invocation is under way, or, with its final answer, that it has ended. */
  noteAppended(event: Event): void {
    this.#invocations.add(event.invocationId);
    this.noteRead(event);
  }

  /** Notes that an invocation has ended, if this is its final answer. */
  noteRead(event: Event): void {
    const { invocationId, author } = event;
    if (!this.#invocations.has(invocationId) || author === 'user') return;
    if (isAnswer(event) && isFinalResponse(event)) this.#invocations.delete(invocationId);
  }

  /** Notes the invocations that a rewind has undone, as the store has read. */
  noteUndone(undone: { has(invocationId: string): boolean }): void {
    for (const invocation of this.#invocations) {
      if (undone.has(invocation)) this.#invocations.delete(invocation);
    }
  }

  /**
   * Returns the handle; `undefined` if there is no session.
   *
   * @param creates when a session is created that is not there. `'if absent'`: only after the remote of a cache has told
   *   so. Only a cache can do it `'with append'`. It asks nothing before
   */
  open(service: SessionService<S>, creates?: Creates): OpenedHandle<S> {
    if (this.opening !== undefined) return this.opening;
    const request = { ...this.#key, config: { numRecentEvents: 0 } };
    const { initialState: state } = this;
    const used = this.#use(service);
    if (creates === undefined) return this.#keep(used.getSession(request));
    const create = (): Promise<Session<S>> => used.getOrCreateSession({ ...request, state });
    const { handleOfNew } = coreOf(service) ?? {};
    if (handleOfNew !== undefined && creates !== 'if absent') {
      if (creates === 'now') return this.#keep(create());
      const openLocally = async (): Promise<Session<S>> => {
        const config = { numRecentEvents: 0, reads: 'cache-only' };
        const known = await used.getSession({ ...request, config });
        return (this.#new = handleOfNew<S>({ ...this.#key, state }, known));
      };
      return this.#keep(openLocally());
    }
    const openOrCreate = async (): Promise<Session<S>> => {
      const session = await used.getSession(request);
      if (session !== undefined) return session;
      try {
        const created = await used.createSession({ ...this.#key, state });
        this.#createdRevision = service.revisionOf(created);
        return created;
      } catch {
        // Another one has created it, or it is not known who has.
        return create();
      }
    };
    return this.#keep(openOrCreate());
  }

  /**
   * Deletes the session if this handle has created it, and nobody has changed it since. Returns whether it did.
   *
   * @param isNeeded asked before anything is read, and right before the session is deleted
   * @param isUsed reads whether the session has what changes no revision, besides a title
   */
  async deleteCreated(
    service: SessionService<S>,
    isNeeded: () => boolean,
    isUsed?: () => Promise<boolean>,
  ): Promise<boolean> {
    if (isNeeded()) return false;
    const revision = this.#createdRevision;
    const { deletable } = coreOf(service) ?? {};
    if (deletable === undefined || revision === undefined) return false;
    const { appName, userId, sessionId } = this.#key;
    const read = () => service.getSession({ ...this.#key, config: { numRecentEvents: 0 } });
    const stored = await read();
    if (stored?.title !== undefined || (await isUsed?.()) === true || isNeeded()) return false;
    this.#createdRevision = undefined;
    const unchanged = { userId, sessionId, revision, labels: undefined };
    try {
      return await deletable.deleteUnchanged(appName, unchanged, {});
    } catch {
      // It may be deleted all the same: its files are erased after it, and an answer may be lost.
      return (await read()) === undefined;
    }
  }

  /**
   * Returns the handle. Creates the session if there is none.
   *
   * @param wasThere whether there was one, so that it was deleted and is not created again
   * @param creates see {@link AppendHandle.open}
   */
  async require(
    service: SessionService<S>,
    wasThere: boolean,
    creates: Creates = 'now',
  ): Promise<Session<S>> {
    // Of several calls, the first creates the session.
    const opening = this.open(service, wasThere ? undefined : creates);
    const session = await opening;
    const isThere = creates === 'with append' || !this.#isNew(service, session);
    if (session !== undefined && isThere) return session;
    this.#forget(opening);
    if (wasThere) throw sessionNotFound(this.#key.sessionId);
    return this.require(service, wasThere, creates);
  }

  /** Returns a handle for a message, if it also creates the session. */
  async requireNew(service: SessionService<S>, wasThere: boolean): Promise<Session<S> | undefined> {
    const session = await this.require(service, wasThere, 'with append');
    return this.#isNew(service, session) ? { ...session, events: [] } : undefined;
  }

  /** Whether a handle creates its session with the next append. */
  #isNew(service: SessionService<S>, session: Session<S> | undefined): boolean {
    return (
      session !== undefined && session === this.#new && service.revisionOf(session) === undefined
    );
  }

  /**
   * Appends an event. Returns the handle.
   *
   * @param shown the revision that the store shows, and whether its session was there
   */
  async append(
    service: SessionService<S>,
    event: Event,
    shown: { readonly wasThere: boolean; readonly revision: number | undefined },
  ): Promise<Session<S>> {
    const { wasThere } = shown;
    const append = async (): Promise<Session<S>> => {
      const session = await this.require(service, wasThere, 'with append');
      const request = { session: { ...session, events: [] }, event };
      await this.unlessGone(this.#use(service).appendEvent(request));
      return session;
    };
    this.#appends += 1;
    try {
      return await append();
    } catch (error) {
      if (!isSessionError(error, 'stale_session')) throw error;
      // Another handle would only hide that the event's invocation has ended.
      if (error.staleReason === 'undone' || error.staleReason === 'cancelled') throw error;
      // If the store shows this revision, only the handle was behind. Otherwise the user has not seen the newer events.
      const openSeen = async (): OpenedHandle<S> => {
        const session = await this.open(service);
        if (session && service.revisionOf(session)! > (shown.revision ?? 0)) throw error;
        return session;
      };
      if (this.opening === undefined) void this.#keep(openSeen());
      return await append();
    } finally {
      this.#appends -= 1;
    }
  }

  /** Forgets the handle if a call fails because it is behind, or its session is deleted: later calls would fail too. */
  async unlessGone<T>(call: Promise<T>): Promise<T> {
    const { opening } = this;
    return call.catch((error: unknown) => {
      const isGone = isSessionError(error, 'stale_session') || isSessionError(error, 'not_found');
      if (isGone) this.#forget(opening);
      throw error;
    });
  }

  /** Keeps a handle for the next append, unless it cannot be opened. */
  #keep(opening: OpenedHandle<S>): OpenedHandle<S> {
    this.opening = opening;
    this.openings += 1;
    opening.catch(() => this.#forget(opening));
    return opening;
  }

  /** Forgets a handle, unless there is another one already. */
  #forget(opening: OpenedHandle<S> | undefined): void {
    if (this.opening === opening) this.opening = undefined;
  }
}
