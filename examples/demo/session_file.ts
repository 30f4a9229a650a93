import { readFile } from 'node:fs/promises';
import { isSessionError, type Session } from 'adk-session-wasm';
import { sessionFromFile } from 'adk-session-wasm/files';

/**
 * Reads a session recorded by an ADK.
 *
 * @throws Error with a message of one sentence if the file is missing or not a session
 */
export async function readSessionFile(path: string): Promise<Session> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new Error(problem, { cause: error });
  }
  try {
    return sessionFromFile(text);
  } catch (error) {
    if (!isSessionError(error)) throw error;
    throw new Error(`is not an ADK session: ${error.message}`, { cause: error });
  }
}
