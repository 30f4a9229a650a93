import { invalidValue } from '../../errors/invalid.js';

/** @throws SessionError `invalid_argument` if the value lacks a state or events, as a promise of a session does */
export function requireWholeSession(session: unknown): void {
  const { state, events } = Object(session) as {
    readonly state?: unknown;
    readonly events?: unknown;
  };
  const hasState = typeof state === 'object' && state !== null;
  if (!hasState || !Array.isArray(events))
    throw invalidValue('session', 'must be a session', session);
}
