import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionToFile } from '../../files/format/session_file.js';
import type { StorageKey } from '../../storage/rows.js';
import { withFileErrors } from './file_errors.js';
import { FileTarget, overwriteNeedsDatabase } from './file_target.js';
import { type Fingerprint, fingerprintOfFile } from './fingerprint.js';
import {
  sha256,
  keyText,
  type SessionCopy,
  toStoredSession,
  type StateCopy,
} from './session_copy.js';
import type { Target } from './store.js';

/** File of the states: users without sessions have states too. */
const STATES_FILE = 'states.jsonl';

/**
 * A folder with one session file for each session, as `@google/adk` writes them, and one file of JSON Lines
 * for the states. A session file is first written under another name and then renamed, so that it is never
 * incomplete.
 */
export class FolderTarget implements Target {
  readonly isFile = true;
  readonly #folder: string;
  readonly #states: FileTarget;

  constructor(folder: string) {
    this.#folder = folder;
    this.#states = new FileTarget(join(folder, STATES_FILE));
  }

  async open(): Promise<void> {
    await withFileErrors(this.#folder, () => mkdir(this.#folder, { recursive: true }));
    await this.#states.open();
  }

  close(): Promise<void> {
    return this.#states.close();
  }

  async fingerprint(key: Required<StorageKey>): Promise<Fingerprint | undefined> {
    const path = this.#pathOf(key);
    if (!(await exists(path))) return undefined;
    const text = await withFileErrors(path, () => readFile(path, 'utf8'));
    return fingerprintOfFile(text, 'milliseconds');
  }

  async create(session: SessionCopy): Promise<boolean> {
    const path = this.#pathOf(session.key);
    if (await exists(path)) return false;
    // Without the initial state: google-adk for Python refuses a session with this member.
    const text = JSON.stringify(sessionToFile(toStoredSession(session).session), undefined, 2);
    const temporaryPath = `${path}.part`;
    await withFileErrors(path, async () => {
      // An interrupted run may have left this file. If it is a link, it must not be written through.
      await rm(temporaryPath, { force: true });
      const file = await open(temporaryPath, 'wx');
      try {
        await file.writeFile(`${text}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporaryPath, path);
    });
    return true;
  }

  replace(): Promise<void> {
    return Promise.reject(overwriteNeedsDatabase());
  }

  addState(state: StateCopy, overwrite: boolean): Promise<readonly string[]> {
    return this.#states.addState(state, overwrite);
  }

  state(key: StateCopy['key']): Promise<string> {
    return this.#states.state(key);
  }

  /**
   * Returns the path of a session's file: the id, as far as any file system accepts it, and a hash that makes
   * the name unique. A leading `-` would look like an option to most programs, and a leading `.` would hide
   * the file.
   */
  #pathOf(key: Required<StorageKey>): string {
    const readableName = key.sessionId.replace(/^[-.]+|[^\w.-]+/g, '_').slice(0, 80);
    const hash = sha256(keyText(key)).slice(0, 16);
    return join(this.#folder, `${readableName}.${hash}.session.json`);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
