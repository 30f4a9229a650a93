import { isSessionError, SessionError } from '../../errors/errors.js';
import { messageOf } from '../../errors/describe.js';

/**
 * Loads a part of the package that most programs do not need.
 *
 * @throws SessionError `connection_lost` if the host cannot load it, for example because the page is offline
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    if (isSessionError(cause)) throw cause;
    const message =
      `A part of adk-session-wasm could not be loaded: ${messageOf(cause)}. Nothing was written. ` +
      'Try again; some browsers need a reload.';
    throw new SessionError('connection_lost', message, { cause });
  }
}
