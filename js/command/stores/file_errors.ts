import { isSessionError, SessionError, type SessionErrorCode } from '../../errors/errors.js';

const CODES: Readonly<Record<string, SessionErrorCode>> = {
  ENOSPC: 'quota_exceeded',
  EDQUOT: 'quota_exceeded',
  EIO: 'storage_failed',
};

/** Turns errors of the file system into errors with a code of this package. */
export async function withFileErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSessionError(error)) throw error;
    const { code } = Object(error) as { code?: unknown };
    if (typeof code !== 'string') throw error;
    const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
    const message = `The file ${JSON.stringify(path)} cannot be used: ${code}.`;
    throw new SessionError(known ?? 'storage_unavailable', message, { cause: error });
  }
}
