/** What a service of this package has beside its public methods. A user's own service has none of it. */
import type { MaybePromise } from './call/call.js';
import type { Abortable, CompositeSessionKey } from '../values/model/session.js';
import type { SessionService } from '../values/model/session_service.js';
import type { StateShape } from '../values/state/state_shape.js';
import type { ServiceHistory } from './history_verbs.js';

/**
 * The member of a service that holds its core. It comes from the symbol registry, because a bundler may put the service
 * and its caller into two copies of this package.
 */
export const CORE = Symbol.for('adk-session-wasm.core');

type InitialState = Readonly<StateShape> | undefined;

/** The data of a cache between two erasures, as one tab knows them. */
export interface Epochs {
  /** Stands for the present data. */
  readonly present: () => object;
  /** Calls a function after each erasure, until the returned function is called. */
  readonly onErased: (listener: () => void) => () => void;
}

/** What all services of this realm over one storage share. */
export interface SharedFeed {
  /** The name of the channel that connects the tabs; absent if no other tab has the storage. */
  readonly channelName?: string | undefined;
}

/** What all folders may ask of the core of a service. Its class is `ServiceCore` of `js/service`. */
export interface Core {
  /** Present for a cache. */
  readonly epochs?: Epochs | undefined;
  readonly feed: { readonly feed: SharedFeed };
  /** Reads a session's own state at its creation, without its events; `undefined` if it is not known. */
  initialState(request: CompositeSessionKey & Abortable): MaybePromise<InitialState>;
  /** Returns the verbs of a service whose backend computes histories elsewhere; otherwise `js/core/history` computes. */
  history(request: Abortable): MaybePromise<ServiceHistory | undefined>;
}

/** Returns the core of a service; `undefined` for a user's own, of which only the public methods are known. */
export function coreOf<OwnCore extends Core>(service: { readonly [CORE]: OwnCore }): OwnCore;
export function coreOf(service: object): Core | undefined;
export function coreOf(service: { readonly [CORE]?: Core }): Core | undefined {
  return service[CORE];
}

/** Reads a session's own state at its creation. Of a user's own service it needs all events. */
export async function readInitialState(
  service: Pick<SessionService, 'sessionInfo'>,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<InitialState> {
  const request = { appName, userId, sessionId, signal };
  const core = coreOf(service);
  if (core !== undefined) return core.initialState(request);
  return (await service.sessionInfo({ ...request, skipCorrupt: true })).initialState;
}
