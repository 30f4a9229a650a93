/** Files of Node, Deno and Bun, for the home in a folder. */
import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';

/** Node's modules, and what the system is. They are not imported: a bundler for a page would look for them. */
export function nodeModules() {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  const load = process?.getBuiltinModule;
  if (load === undefined) {
    const message = 'Folders need Node, Deno or Bun; give artifacts: true in a page.';
    throw new SessionError('storage_unavailable', message);
  }
  return {
    fs: load('node:fs/promises'),
    openAsBlob: load('node:fs').openAsBlob,
    path: load('node:path'),
    url: load('node:url'),
    isWindows: process!.platform === 'win32',
  };
}

export type Node = ReturnType<typeof nodeModules>;

/** How a folder is removed with all that is in it. Another program may store a file there: then it is tried again. */
export const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 10 } as const;

/** Returns the entries of a folder; none if it is not there. */
export async function listed<Entry>(entries: Promise<Entry[]>): Promise<Entry[]> {
  try {
    return await entries;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return [];
    throw error;
  }
}

export function codeOf(error: unknown): string | undefined {
  return (Object(error) as { readonly code?: string }).code;
}

/** Makes a `SessionError` of an error of the system. */
export async function withErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    // What is thrown while a caller's stream is read has no code of the system.
    if (isSessionError(error) || code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
    if (code === 'ENAMETOOLONG') {
      const message =
        'The ids and the name of the file are too long for a path of the file system.';
      throw new SessionError('invalid_argument', message, { cause: error });
    }
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    const message = `The folder of the files failed: ${messageOf(error)}`;
    throw new SessionError(isFull ? 'quota_exceeded' : 'storage_failed', message, { cause: error });
  }
}
