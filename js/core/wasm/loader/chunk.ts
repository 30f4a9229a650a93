/** Parts of the package, which a page loads when it uses them. */
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { reasonOf } from '../../../values/errors/describe.js';

/**
 * Loads a part of the package that most programs do not need.
 *
 * @throws SessionError `connection_lost` if the host cannot load it, for example because the page is offline
 */
export async function loadChunk<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (isSessionError(cause)) throw cause;
    const message =
      `A part of adk-session-wasm could not be loaded: ${reasonOf(cause)}. Nothing was written. ` +
      'Try again; some browsers need a reload.';
    throw new SessionError('connection_lost', message, { cause });
  }
}
