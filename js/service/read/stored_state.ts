import { messageOf } from '../../values/errors/describe.js';
import { SessionError } from '../../values/errors/errors.js';
import { parseJson } from '../../values/json/parse.js';
import type { StateShape } from '../../values/state/state_shape.js';

/**
 * Parses the JSON object of a state. The core has merged it, so only its depth can be wrong.
 *
 * @param owner returns whose state it is, for the error
 * @throws SessionError `corrupt_record`
 */
export function parseState(text: string, owner: () => string): StateShape {
  try {
    return parseJson(text) as StateShape;
  } catch (cause) {
    const record = `state of ${owner()}`;
    const message = `The stored ${record} cannot be read: ${messageOf(cause)}.`;
    throw new SessionError('corrupt_record', message, { record, cause });
  }
}
