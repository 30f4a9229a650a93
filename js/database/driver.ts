import { SessionError } from '../errors.js';
import type { EngineKind } from './engine.js';

const PACKAGES: Readonly<Record<EngineKind, string>> = {
  sqlite: 'better-sqlite3',
  postgresql: 'pg',
  mysql: 'mysql2',
};

/**
 * Loads the driver of an engine, which is not installed with this package.
 *
 * @throws SessionError `storage_unavailable` with what to install
 */
export async function loadDriver<Module>(kind: EngineKind): Promise<Module> {
  const module = await loadOptional<Module>(PACKAGES[kind]);
  if (module === undefined) throw missingDriver(kind);
  return module;
}

export function missingDriver(kind: EngineKind): SessionError {
  const message = `The driver for ${kind} is not installed; run: npm install ${PACKAGES[kind]}`;
  return new SessionError('storage_unavailable', message, { storage: kind });
}

/**
 * Loads a module that may not be there. By a name that bundlers cannot see, which would otherwise insist
 * on every driver.
 *
 * @returns `undefined` if it is not there; throws what it throws if it is there and fails
 */
export async function loadOptional<Module>(name: string): Promise<Module | undefined> {
  try {
    return (await import(name)) as Module;
  } catch (error) {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown };
    // A driver that is there but lacks a package of its own is another thing, and speaks for itself.
    const isMissing =
      (code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(`'${name}'`)) ||
      code === 'ERR_UNKNOWN_BUILTIN_MODULE';
    if (isMissing) return undefined;
    throw error;
  }
}
