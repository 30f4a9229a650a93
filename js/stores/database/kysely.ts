/** Kysely is an optional peer: a module that needs it is loaded at its first use. */
import { SessionError } from '../../values/errors/errors.js';
import { isMissingPackage } from '../../core/wasm/loader/optional_package.js';
import type { EngineKind } from './engine/engine.js';

/**
 * Loads a module that needs Kysely.
 *
 * @throws SessionError `storage_unavailable`, with the command that installs Kysely, if it is not installed
 */
export async function loadWithKysely<Module>(
  kind: EngineKind,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissingPackage(error, 'kysely')) throw error;
    const message = 'SQL databases need Kysely, which is not installed; run: npm install kysely';
    throw new SessionError('storage_unavailable', message, { storage: kind, cause: error });
  }
}
