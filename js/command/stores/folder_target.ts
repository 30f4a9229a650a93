import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionToFile } from '../../files/format/session_file.js';
import type { StorageKey } from '../../storage/adapter.js';
import { withFileErrors } from './file_errors.js';
import { FileTarget, overwriteNeedsDatabase } from './file_target.js';
import { type Fingerprint, fingerprintOfFile } from './fingerprint.js';
import {
  hashOf,
  nameOfKey,
  type SessionCopy,
  sessionOfCopy,
  type StateCopy,
} from './session_copy.js';
import type { Target } from './store.js';

/** Beside the sessions, for the states of users who have none. */
const STATES = 'states.jsonl';

/**
 * A folder of session files, one for each session, as `@google/adk` writes them; and one of JSON Lines for the
 * states. A session file is written under another name first, and so is there whole or not at all.
 */
export class FolderTarget implements Target {
  readonly isFile = true;
  readonly #folder: string;
  readonly #states: FileTarget;

  constructor(folder: string) {
    this.#folder = folder;
    this.#states = new FileTarget(join(folder, STATES));
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
    const text = JSON.stringify(sessionToFile(sessionOfCopy(session)), undefined, 2);
    const part = `${path}.part`;
    await withFileErrors(path, async () => {
      // A run that was interrupted may have left it. A link of that name must not be written through.
      await rm(part, { force: true });
      const file = await open(part, 'wx');
      try {
        await file.writeFile(`${text}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(part, path);
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
   * The id as far as any file system takes it, and what tells it from all others. A name that begins with
   * `-` would be an option to most programs, and one with `.` is hidden.
   */
  #pathOf(key: Required<StorageKey>): string {
    const shown = key.sessionId.replace(/^[-.]+|[^\w.-]+/g, '_').slice(0, 80);
    const hash = hashOf(nameOfKey(key)).slice(0, 16);
    return join(this.#folder, `${shown}.${hash}.session.json`);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
