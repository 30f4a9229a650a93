import { SessionError } from '../../errors/errors.js';
import { loadOptional } from '../../wasm/loader/optional_package.js';
import type { Engine, EngineKind } from './engine.js';
import { MYSQL } from './mysql.js';
import { POSTGRESQL } from './postgresql.js';
import { SQLITE } from './sqlite.js';

/** The engines by kind. */
export const ENGINES: Readonly<Record<EngineKind, Engine>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
};

/**
 * Loads the driver of an engine, which is not installed with this package.
 *
 * @throws SessionError `storage_unavailable` with the package to install
 */
export async function loadDriver<Module>(kind: EngineKind): Promise<Module> {
  const module = await loadOptional<Module>(ENGINES[kind].driver);
  if (module === undefined) throw missingDriver(kind);
  return module;
}

/** Makes the `storage_unavailable` error for a driver that is not installed. */
export function missingDriver(kind: EngineKind): SessionError {
  const { name, driver } = ENGINES[kind];
  const message = `The driver for ${name} is not installed; run: npm install ${driver}`;
  return new SessionError('storage_unavailable', message, { storage: kind });
}
