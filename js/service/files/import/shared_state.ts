import { requireId } from '../../../values/model/values/ids.js';
import { joinScopes } from '../../../values/state/keys.js';
import { SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { Abortable, AppRequest, UserRequest } from '../../../values/model/session.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { SessionService } from '../../../values/model/session_service.js';

/** Reads the `user:` and `app:` keys of a user from a service, with their prefixes. */
export async function readSharedState(
  service: SessionService,
  { appName, userId, signal }: UserRequest & Abortable,
): Promise<StateShape> {
  const states = SHARED_SCOPES.map(
    async (scope) => [scope, await readState(service, scope, { appName, userId, signal })] as const,
  );
  return joinScopes(Object.fromEntries(await Promise.all(states)));
}

/** Reads the state of a scope from a service. Its keys have no prefix. */
export function readState(
  service: SessionService,
  scope: SharedScope,
  { appName, userId, signal }: AppRequest & Abortable & { readonly userId?: string | undefined },
): Promise<StateShape> {
  switch (scope) {
    case 'app':
      return service.getAppState({ appName, signal });
    case 'user':
      return service.getUserState({ appName, userId: requireId('userId', userId), signal });
  }
}
