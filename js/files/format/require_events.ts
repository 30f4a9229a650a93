import { invalidValue } from '../../errors/invalid.js';

/** @throws SessionError `invalid_argument` if the value has no events, as a promise of a session */
export function requireEvents(session: unknown): void {
  const { events } = Object(session) as { events?: unknown };
  if (!Array.isArray(events)) throw invalidValue('session', 'must be a session', session);
}
