/** The core of a service: what other folders use of it beside its public methods. A user's own service has no core. */
import type {
  Abortable,
  CompositeSessionKey,
  CreateSessionRequest,
  Session,
} from '../values/model/session.js';
import type { ArtifactService } from '../values/model/artifact.js';
import type { WatchRequest } from '../values/model/notice.js';
import type { FindRequest, FindResult } from '../values/model/search.js';
import type { SessionService } from '../values/model/session_service.js';
import type { StateShape } from '../values/state/state_shape.js';
import { SessionError } from '../values/errors/errors.js';
import { fitsUtf8, utf8Length } from '../values/json/text.js';
import type { ReportListener } from './run_report.js';
import type { WordRows, WordsOwner } from './word_rows.js';

/**
 * The member of a service that holds its core. It comes from the symbol registry, because a bundler may put the service
 * and its caller into two copies of this package.
 */
export const CORE = Symbol.for('adk-session-wasm.core');

type InitialState = Readonly<StateShape> | undefined;

/** The data of a cache between two calls of `forget`, as one tab knows them. */
export interface Epochs {
  /** Returns an object that stands for the present data. After `forget` it is another one. */
  readonly present: () => object;
  /** Calls a function after each `forget`, until the returned function is called. */
  readonly onForgotten: (listener: () => void) => () => void;
}

/** What all services of this realm over one storage share. */
export interface SharedFeed {
  /** The name of the channel that connects the tabs; absent if no other tab has the storage. */
  readonly channelName?: string | undefined;
  /** Counts the writes of these services. */
  readonly writes: number;
  /** Over HTTP: calls a function each time a feed of the server has opened, until the returned function is called. */
  readonly onOpen?: ((listener: () => void) => () => void) | undefined;
}

/** A session, or, without `sessionId`, all sessions of a user. */
export type FollowedKey = Omit<CompositeSessionKey, 'sessionId'> &
  Partial<Pick<CompositeSessionKey, 'sessionId'>>;

/** The agent of the server that has the sessions. It answers messages that are appended with `run`. */
export interface ServerAgent {
  /** Whether the server has an agent; `undefined` until the server has answered anything. */
  readonly isThere: boolean | undefined;
  /** The most bytes of a request; `undefined` if the server has not told. */
  readonly maxBodyBytes: number | undefined;
  /** Whether the server is `adk api_server`, whose agents run by request alone; `undefined` as of `isThere`. */
  readonly isApiServer: boolean | undefined;
  /** The name of a channel for the tabs that have the same server. */
  readonly channelName: string;
  /** Of a cache: rejects if its remote does not answer. */
  reach?(): Promise<unknown>;
  /**
   * Of a cache: whether its copies of a user's sessions have no revisions, as those of `adk api_server`; `undefined`
   * without any.
   */
  hasPlainCopies?(key: CompositeSessionKey): Promise<boolean | undefined>;
  /**
   * Asks the server whether it has an agent.
   *
   * @throws SessionError (as a rejection) any error of a request
   */
  find(): Promise<boolean>;
  /**
   * Calls a function with the run of a session, and after each change, until the returned function is called. Meanwhile
   * the feed of the user is open. Of all sessions of a user, it tells the changes alone.
   */
  follow(key: FollowedKey, listener: ReportListener): () => void;
  /** Returns the message of a session that another process of the server may be answering, as the server has told. */
  openMessage?(key: CompositeSessionKey): string | undefined;
  /**
   * Cancels the run of a session, or stores the end event of the message that `messageId` names.
   *
   * @returns whether anything was cancelled
   */
  cancel(
    request: CompositeSessionKey & Abortable & { readonly messageId?: string | undefined },
  ): Promise<boolean>;
}

/** A change of a session, other than an event, that the remote of a cache has refused for good. */
export interface RefusedOfSession {
  readonly key: CompositeSessionKey;
  readonly kind: 'create' | 'title' | 'labels' | 'delete';
  readonly error: SessionError & { readonly eventId?: string };
}

/** The members of a core that every folder may use. Its class is `ServiceCore` of `js/service`. */
export interface Core {
  /** Present for a cache. */
  readonly epochs?: Epochs | undefined;
  /** Present with the option `artifacts`, and if the sessions are on a server. */
  readonly artifacts?: { readonly service: Required<ArtifactService> } | undefined;
  /** Present if the sessions are on a server, which may have an agent. */
  readonly serverAgent?: ServerAgent | undefined;
  readonly publisher: { readonly feed: SharedFeed };
  /**
   * Stands for the storage: all services of this realm over it have the same object. The runs of a server belong to it.
   */
  readonly sharedStorage: object;
  /** Whether other processes have the storage as a rule. */
  readonly hasOtherProcesses: boolean;
  /** Notes that a live session is storing what its user has written. Signing out waits until it has. */
  noteStoring(work: Promise<unknown>): void;
  readonly deletable: {
    /** Deletes a session that has this revision and no labels. Returns whether it did. */
    deleteUnchanged(
      appName: string,
      session: {
        readonly userId: string;
        readonly sessionId: string;
        readonly revision: number | undefined;
        readonly labels: undefined;
      },
      call: Abortable,
    ): Promise<boolean>;
  };
  /**
   * Present for a cache. Returns a handle of a session that may not exist. If the cache has no such session, the first
   * append through the handle creates the session in the same transaction.
   *
   * @param known a handle of the session, if the cache has the session. It is returned in place of a new one, and its
   *   first append may create the session too: the remote may not have it
   */
  readonly handleOfNew?:
    | (<S extends object>(
        request: CreateSessionRequest<S> & CompositeSessionKey,
        known: Session<S> | undefined,
      ) => Session<S>)
    | undefined;
  /**
   * Of a cache: waits until the remote has what the outbox has of a session.
   *
   * @throws SessionError (as a rejection) `connection_lost` if that takes longer than a read may
   */
  readonly untilSent?: ((key: CompositeSessionKey) => Promise<void>) | undefined;
  /** Lets the server of the sessions search in them. Resolves to `undefined` if there is none that can. */
  search(request: FindRequest): Promise<FindResult | undefined>;
  /** Of a cache: returns the ids of the sessions of a user with changes that the remote has not confirmed. */
  readonly unsentSessions?: ((user: WordsOwner) => readonly string[]) | undefined;
  /**
   * Of a cache: returns what the remote has refused of sessions besides events, as this tab knows it. Each change of it
   * is a change of the status.
   */
  readonly refusedOfSessions?:
    ((of: Pick<WatchRequest, 'appName' | 'userId'>) => readonly RefusedOfSession[]) | undefined;
  /** The database of IndexedDB that the words of searches are beside. */
  readonly wordsName?: string | undefined;
  /** Returns the rows of words beside the sessions. Resolves to `undefined` if the storage keeps none. */
  words(call: Abortable): Promise<WordRows | undefined>;
  /** Reads a session's own state at its creation, without its events; `undefined` if it is not known. */
  initialState(request: CompositeSessionKey & Abortable): Promise<InitialState>;
}

/** @throws SessionError `remote` with status 413, which the server would respond with */
export function requireMessageFits(agent: ServerAgent | undefined, text: string): void {
  const most = agent?.maxBodyBytes ?? Infinity;
  if (fitsUtf8(text, most)) return;
  const message = `The message is too large: it has ${utf8Length(text)} bytes, and the server takes ${most}.`;
  throw new SessionError('remote', message, { status: 413, storage: 'remote' });
}

/** Returns the core of a service; `undefined` for a user's own service, which has only public methods. */
export function coreOf<OwnCore extends Core>(service: { readonly [CORE]: OwnCore }): OwnCore;
export function coreOf(service: object): Core | undefined;
export function coreOf(service: { readonly [CORE]?: Core }): Core | undefined {
  return service[CORE];
}

/** Returns the files of a service, or of the service that it wraps; `undefined` without the option `artifacts`. */
export function findArtifacts(service: object): Required<ArtifactService> | undefined {
  const core = coreOf(service);
  if (core !== undefined) return core.artifacts?.service;
  return (service as { readonly artifacts?: Required<ArtifactService> }).artifacts;
}

/** Returns the files of a service. @throws SessionError `artifact_service_missing` */
export function requireArtifacts(service: object): Required<ArtifactService> {
  const artifacts = findArtifacts(service);
  if (artifacts !== undefined) return artifacts;
  const message = 'This service keeps no files; give it the option artifacts.';
  throw new SessionError('artifact_service_missing', message);
}

/** Reads a session's own state at its creation. A user's own service reads all events for that. */
export async function readInitialState(
  service: Pick<SessionService, 'sessionInfo'>,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<InitialState> {
  const request = { appName, userId, sessionId, signal };
  const core = coreOf(service);
  if (core !== undefined) return core.initialState(request);
  return (await service.sessionInfo({ ...request, skipCorrupt: true })).initialState;
}
