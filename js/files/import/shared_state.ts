import { APP_PREFIX, USER_PREFIX } from '../../state/scope.js';
import type { Abortable, UserRequest } from '../../model/session.js';
import type { StateShape } from '../../state/state_shape.js';
import type { BaseSessionService } from '../../model/session_service.js';

/** The `user:` and `app:` keys that a service has for a user, prefixes on. */
export async function liveState(
  service: BaseSessionService,
  { appName, userId, signal }: UserRequest & Abortable,
): Promise<StateShape> {
  const [app, user] = await Promise.all([
    service.getAppState({ appName, signal }),
    service.getUserState({ appName, userId, signal }),
  ]);
  return { ...prefixed(APP_PREFIX, app), ...prefixed(USER_PREFIX, user) };
}

/** A scope's state with the prefix on its keys. */
export function prefixed(prefix: string, state: Readonly<StateShape>): StateShape {
  return Object.fromEntries(Object.entries(state).map(([key, value]) => [prefix + key, value]));
}
