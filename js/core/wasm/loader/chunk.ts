/** Parts of the package, which a page loads when it uses them. */
import { untilAborted } from '../../call/time_limit.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { messageOf } from '../../../values/errors/describe.js';
import type { HostAbortSignal } from '../../../values/model/host.js';

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
      `A part of adk-session-wasm could not be loaded: ${messageOf(cause)}. Nothing was written. ` +
      'Try again; some browsers need a reload.';
    throw new SessionError('connection_lost', message, { cause });
  }
}

/**
 * Loads a part of the package, once. A bundler puts it into a file of its
 * own, so a page that does not use it does not load it.
 */
export type ChunkLoader<Module> = (signal?: HostAbortSignal) => Promise<Module>;

/** Makes a part that is loaded when it is first used. After a failure the next use loads it again. */
export function onDemand<Module>(load: () => Promise<Module>): ChunkLoader<Module> {
  let loaded: Module | undefined;
  return async (signal) => (loaded ??= await untilAborted(signal, loadChunk(load)));
}
