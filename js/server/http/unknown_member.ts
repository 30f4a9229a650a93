import { invalid } from '../../values/errors/invalid.js';
import type { SessionError } from '../../values/errors/errors.js';

/** Returns the error for a member or a parameter that a route does not have. */
export function unknownMember(name: string, known: readonly string[]): SessionError {
  return invalid(name, `is unknown here. Known are ${known.join(', ') || 'none'}`);
}
