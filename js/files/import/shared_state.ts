import { SHARED_PREFIXES, SHARED_SCOPES, type SharedScope } from '../../state/scope.js';
import { requireService } from '../../call/given_service.js';
import type { Abortable, UserRequest } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';

/** Reads the `user:` and `app:` keys of a user from a service, with their prefixes. */
export async function readSharedState(
  service: BaseSessionService,
  { appName, userId, signal }: UserRequest & Abortable,
): Promise<StateShape> {
  requireService(service, ['getAppState', 'getUserState']);
  const [app, user] = await Promise.all([
    service.getAppState({ appName, signal }),
    service.getUserState({ appName, userId, signal }),
  ]);
  return mergeShared({ app, user });
}

/** Merges the states of the shared scopes. */
export function mergeShared(states: Readonly<Record<SharedScope, StateShape>>): StateShape {
  const prefixed = SHARED_SCOPES.map((scope) => addPrefix(scope, states[scope]));
  return Object.fromEntries(prefixed.flatMap(Object.entries<unknown>));
}

/** Returns a shared state with the prefix added to its keys. */
export function addPrefix(scope: SharedScope, state: Readonly<StateShape>): StateShape {
  const prefix = SHARED_PREFIXES[scope];
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [prefix + key, value]));
}
