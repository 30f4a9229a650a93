import type { HistoryView } from '../../../values/model/values/history_view.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { RunAgent } from '../../../service/runs/agent/run_context.js';
import type { StateShape } from '../../../values/state/state_shape.js';

/** The defaults for the components of a page: a service, and whose sessions it shows. */
export interface ProvidedSessions<S extends object = StateShape> {
  /** The service, or the promise of `openSessionService`. It must be the same object in each render. */
  readonly service: SessionService<S> | Promise<SessionService<S>>;
  /** The app. */
  readonly appName: string;
  /** The user. */
  readonly userId: string;
  /** The session of components without a `sessionId` of their own. */
  readonly sessionId?: string | undefined;
  /** See `LiveSessionOptions`. */
  readonly window?: number | undefined;
  /** See `LiveSessionOptions`. */
  readonly view?: HistoryView | undefined;
  /** See `LiveSessionOptions`. */
  readonly turns?: boolean | undefined;
  /** The agent that answers in all sessions; see `LiveSessionOptions`. */
  readonly run?: RunAgent | undefined;
  /** The state of a session that its first message creates, unless a component has an `initialState` of its own. */
  readonly initialState?: Partial<S> | undefined;
}

/** Some members of a type. One that is `undefined` counts as absent. */
export type AnyMembers<T> = { readonly [Name in keyof T]?: T[Name] | undefined };
