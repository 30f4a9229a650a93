import type { StateShape } from '../state/state_shape.js';
import type { Abortable, CompositeSessionKey } from './session.js';
import type { SessionService } from './session_service.js';

/**
 * The member of a service that holds its core. From the symbol registry: a bundler may put the service and its user
 * into two copies of this package.
 */
export const CORE = Symbol.for('adk-session-wasm.core');

type InitialState = Readonly<StateShape> | undefined;

/** What a core reads without the events of a session. */
interface CorePages {
  initialState(request: CompositeSessionKey & Abortable): InitialState | Promise<InitialState>;
}

/** Reads a session's own state as it was created, if it is known. Only a service of a user's own reads all events for it. */
export async function readInitialState(
  service: Pick<SessionService, 'sessionInfo'>,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<InitialState> {
  const request = { appName, userId, sessionId, signal };
  const core = (service as { readonly [CORE]?: { readonly pages: CorePages } })[CORE];
  if (core !== undefined) return core.pages.initialState(request);
  return (await service.sessionInfo({ ...request, skipCorrupt: true })).initialState;
}
