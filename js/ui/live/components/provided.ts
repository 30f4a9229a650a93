import { SessionError } from '../../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { LiveSession } from '../types/live_session.js';
import type { LiveSessions, LiveSessionsRequest } from '../types/live_sessions.js';
import type { AnyMembers, ProvidedSessions } from '../types/provided_sessions.js';
import { sharedSession, sharedSessions } from './shared_stores.js';

/** By store: the last initial state of a component. It counts also for the components that have none. */
const ownStates = new WeakMap<object, object>();

/**
 * Returns the store of a session that all components share.
 *
 * @param options the session; the provider has the members that are absent
 * @param places where a session id can be given, for the error
 * @throws SessionError `invalid_argument` without a session id
 */
export function providedSession<S extends object>(
  provided: ProvidedSessions<S>,
  options: AnyMembers<CompositeSessionKey> & Pick<ProvidedSessions<S>, 'initialState'>,
  places: string,
): LiveSession<S> {
  const { appName, userId, sessionId } = withDefaults<ProvidedSessions<S>>(provided, options);
  if (sessionId === undefined) {
    const message = `sessionId is missing; give it to ${places}.`;
    throw new SessionError('invalid_argument', message, { key: 'sessionId' });
  }
  const { service, window, view, turns } = provided;
  const store = sharedSession(service, { appName, userId, sessionId }, { window, view, turns });
  if (options.initialState !== undefined) ownStates.set(store, options.initialState);
  store.agent = provided.run;
  store.initialState = ownStates.get(store) ?? provided.initialState;
  return store;
}

/** Returns the store of a list that all components share. The provided app and user are its own by default. */
export function providedSessions<S extends object>(
  { service, appName, userId }: ProvidedSessions<S>,
  request: AnyMembers<LiveSessionsRequest<keyof S & string>>,
): LiveSessions<S> {
  const names: LiveSessionsRequest<keyof S & string> = { appName, userId };
  return sharedSessions(service, withDefaults(names, request));
}

/** A member that is `undefined` counts as absent: a list of an unknown user would otherwise be that of all users. */
function withDefaults<Names extends object>(defaults: Names, given: AnyMembers<Names>): Names {
  const own = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(own) };
}
