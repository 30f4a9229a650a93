import type { StateShape } from '../state/state_shape.js';
import type { Abortable, CompositeSessionKey } from './session.js';
import type { SessionService } from './session_service.js';

/**
 * The member of a service that holds its core. It comes from the symbol registry, because a bundler may put the service
 * and its caller into two copies of this package.
 */
export const CORE = Symbol.for('adk-session-wasm.core');

type InitialState = Readonly<StateShape> | undefined;

/** The part of a core that reads without a session's events. */
interface InitialStates {
  initialState(request: CompositeSessionKey & Abortable): InitialState | Promise<InitialState>;
}

/**
 * Reads a session's own state at its creation. Returns `undefined` if it is not known. A service without a core, which
 * is a user's own, reads all events for it.
 */
export async function readInitialState(
  service: Pick<SessionService, 'sessionInfo'>,
  { appName, userId, sessionId, signal }: CompositeSessionKey & Abortable,
): Promise<InitialState> {
  const request = { appName, userId, sessionId, signal };
  const core = (service as { readonly [CORE]?: InitialStates })[CORE];
  if (core !== undefined) return core.initialState(request);
  return (await service.sessionInfo({ ...request, skipCorrupt: true })).initialState;
}
