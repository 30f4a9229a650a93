import { SessionError } from '../../errors/errors.js';
import { loadOptional } from '../../wasm/loader/optional_package.js';
import { type EngineKind, ENGINES } from './engine.js';

const PACKAGES: Readonly<Record<EngineKind, string>> = {
  sqlite: 'better-sqlite3',
  postgresql: 'pg',
  mysql: 'mysql2',
};

/**
 * Loads the driver of an engine, which is not installed with this package.
 *
 * @throws SessionError `storage_unavailable` with the package to install
 */
export async function loadDriver<Module>(kind: EngineKind): Promise<Module> {
  const module = await loadOptional<Module>(PACKAGES[kind]);
  if (module === undefined) throw missingDriver(kind);
  return module;
}

/** Makes the `storage_unavailable` error for a driver that is not installed. */
export function missingDriver(kind: EngineKind): SessionError {
  const message = `The driver for ${ENGINES[kind].name} is not installed; run: npm install ${PACKAGES[kind]}`;
  return new SessionError('storage_unavailable', message, { storage: kind });
}
