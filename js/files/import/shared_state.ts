import { SHARED_PREFIXES, type SharedScope } from '../../state/scope.js';
import type { Abortable, UserRequest } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { SessionService } from '../../model/session_service.js';

/** Reads the `user:` and `app:` keys of a user from a service, with their prefixes. */
export async function readSharedState(
  service: SessionService,
  { appName, userId, signal }: UserRequest & Abortable,
): Promise<StateShape> {
  const [app, user] = await Promise.all([
    service.getAppState({ appName, signal }),
    service.getUserState({ appName, userId, signal }),
  ]);
  return { ...addPrefix('app', app), ...addPrefix('user', user) };
}

/** Returns a shared state with the prefix added to its keys. */
export function addPrefix(scope: SharedScope, state: Readonly<StateShape>): StateShape {
  const prefix = SHARED_PREFIXES[scope];
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [prefix + key, value]));
}
