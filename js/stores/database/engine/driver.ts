/** The drivers are not installed with this package. */
import { SessionError } from '../../../values/errors/errors.js';
import { loadOptional } from '../../../core/wasm/loader/optional_package.js';
import type { Engine } from './engine.js';

/**
 * Loads the driver of an engine.
 *
 * @throws SessionError `storage_unavailable` with the package to install
 */
export async function loadDriver<Module>(engine: Engine): Promise<Module> {
  const module = await loadOptional<Module>(engine.driver);
  if (module === undefined) throw missingDriver(engine);
  return module;
}

/** Makes the `storage_unavailable` error for a driver that is not installed. */
export function missingDriver({ kind, name, driver }: Engine): SessionError {
  const message = `The driver for ${name} is not installed; run: npm install ${driver}`;
  return new SessionError('storage_unavailable', message, { storage: kind });
}
