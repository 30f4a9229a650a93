import { invalid } from '../../errors/invalid.js';
import { type FileHandle, mkdir, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SessionError } from '../../errors/errors.js';
import {
  describeLine,
  headerOf,
  parseLine,
  readHeaderUnit,
} from '../../files/format/stream_format.js';
import {
  type Dialect,
  fileOf,
  requireCasing,
  type SessionFile,
} from '../../files/format/session_file.js';
import { requireId } from '../../model/values/ids.js';
import type { StorageKey } from '../../storage/rows.js';
import { type ByteLine, byteLines } from './byte_lines.js';
import { withFileErrors } from './file_errors.js';
import { type Fingerprint, fingerprintOfFile } from './fingerprint.js';
import { keyText, type SessionCopy, toStoredSession, type StateCopy } from './session_copy.js';
import { mergeState } from './shared_state.js';
import type { Target } from './store.js';

/** The position of a line, in bytes. */
interface LinePosition {
  readonly offset: number;
  readonly length: number;
}

/**
 * A file of JSON Lines, as `exportSessions` writes it. It only grows, except that an unfinished last line of
 * an interrupted run is cut off. Memory holds only the ids and positions of the lines.
 *
 * The file is opened for appending: a second run at the same time cannot write over the lines of the first.
 */
export class FileTarget implements Target {
  readonly isFile = true;
  readonly #path: string;
  readonly #sessions = new Map<string, LinePosition>();
  /** A state may have several lines, each with the keys that the lines before it lack. */
  readonly #states = new Map<string, LinePosition[]>();
  #dialect: Dialect = { casing: 'camel', timeUnit: 'milliseconds' };
  #file: FileHandle | undefined;
  #hasHeader = false;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Opens or creates the file.
   *
   * @throws SessionError `invalid_argument` if the file holds something else; it is not changed then
   */
  async open(): Promise<void> {
    await withFileErrors(this.#path, async () => {
      await mkdir(dirname(this.#path), { recursive: true });
      this.#file = await open(this.#path, 'a+');
      await this.#scan(this.#file);
    });
  }

  close(): Promise<void> {
    return withFileErrors(this.#path, async () => {
      await this.#file?.sync();
      await this.#file?.close();
      this.#file = undefined;
    });
  }

  async fingerprint(key: Required<StorageKey>): Promise<Fingerprint | undefined> {
    const position = this.#sessions.get(keyText(key));
    if (position === undefined) return undefined;
    return fingerprintOfFile(await this.#read(position), this.#dialect.timeUnit);
  }

  async create(session: SessionCopy): Promise<boolean> {
    const name = keyText(session.key);
    if (this.#sessions.has(name)) return false;
    this.#sessions.set(name, await this.#append(fileOf(toStoredSession(session), this.#dialect)));
    return true;
  }

  replace(): Promise<void> {
    return Promise.reject(overwriteNeedsDatabase());
  }

  async state(key: StateCopy['key']): Promise<string> {
    let state = '{}';
    for (const position of this.#states.get(keyText(key)) ?? []) {
      const { appState, userState } = parseLine(await this.#read(position));
      state = mergeState(state, JSON.stringify(userState ?? appState), false).state ?? state;
    }
    return state;
  }

  async addState({ key, state }: StateCopy, overwrite: boolean): Promise<readonly string[]> {
    // Round the numbers as the file stores them. Otherwise a second run would find other values there.
    const sourceState = JSON.stringify(JSON.parse(state));
    const merged = mergeState(await this.state(key), sourceState, overwrite);
    if (merged.added === undefined) return merged.conflictingKeys;
    const { appName, userId } = key;
    const added = JSON.parse(merged.added) as SessionFile;
    const line = userId === undefined ? { appState: added } : { userId, userState: added };
    this.#recordState(key, await this.#append({ appName, ...line }));
    return merged.conflictingKeys;
  }

  #recordState(key: StateCopy['key'], position: LinePosition): void {
    const name = keyText(key);
    this.#states.set(name, [...(this.#states.get(name) ?? []), position]);
  }

  /** Reads the existing lines, and prepares the end of the file for the next line. */
  async #scan(file: FileHandle): Promise<void> {
    const header = `${JSON.stringify(headerOf(this.#dialect))}\n`;
    for await (const line of byteLines(file)) {
      if (line.isEnded || isJson(line)) {
        this.#recordLine(line);
        this.#size = line.offset + line.bytes.length + (line.isEnded ? 1 : 0);
        if (!line.isEnded) await this.#appendText('\n');
        continue;
      }
      // The part that is cut off must be ours: the beginning of our header, or a line after it.
      if (line.offset === 0 && !header.startsWith(line.bytes.toString())) {
        throw this.#foreignFileError();
      }
      await truncate(this.#path, line.offset);
    }
    if (!this.#hasHeader) await this.#appendText(header);
  }

  #recordLine({ offset, bytes }: ByteLine): void {
    const text = bytes.toString('utf8');
    if (text.trim() === '') return;
    const json = this.#parseLine(text);
    if (Object.hasOwn(json, 'format')) {
      const timeUnit = readHeaderUnit(json);
      this.#dialect = { casing: requireCasing(json.casing), timeUnit };
      this.#hasHeader = true;
      return;
    }
    if (!this.#hasHeader) throw this.#foreignFileError();
    const { kind, ...names } = describeLine(json);
    const appName = requireId('appName', names.appName);
    const position = { offset, length: bytes.length };
    if (kind === 'appState') {
      this.#recordState({ appName }, position);
      return;
    }
    const userId = requireId('userId', names.userId);
    if (kind === 'userState') {
      this.#recordState({ appName, userId }, position);
      return;
    }
    const sessionId = requireId('id', names.sessionId);
    this.#sessions.set(keyText({ appName, userId, sessionId }), position);
  }

  #parseLine(text: string): SessionFile {
    try {
      return parseLine(text);
    } catch (cause) {
      throw this.#foreignFileError(cause);
    }
  }

  #foreignFileError(cause?: unknown): SessionError {
    const problem = `The file ${JSON.stringify(this.#path)} was not written by exportSessions or this command`;
    const message = `${problem}; name another file.`;
    return new SessionError('invalid_argument', message, { key: 'TO', cause });
  }

  #changedFileError(): SessionError {
    return new SessionError(
      'storage_unavailable',
      `Another program writes to the file ${JSON.stringify(this.#path)}. ` +
        'Run the command again when that program has ended.',
    );
  }

  async #read({ offset, length }: LinePosition): Promise<string> {
    const { buffer, bytesRead } = await withFileErrors(this.#path, () =>
      this.#requireOpen().read(Buffer.allocUnsafe(length), 0, length, offset),
    );
    return buffer.toString('utf8', 0, bytesRead);
  }

  #append(value: SessionFile): Promise<LinePosition> {
    return this.#appendText(`${JSON.stringify(value)}\n`);
  }

  async #appendText(text: string): Promise<LinePosition> {
    const bytes = Buffer.from(text, 'utf8');
    const offset = this.#size;
    await withFileErrors(this.#path, async () => {
      const file = this.#requireOpen();
      if ((await file.stat()).size !== offset) throw this.#changedFileError();
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await file.write(bytes, written);
        written += bytesWritten;
      }
    });
    this.#size += bytes.length;
    return { offset, length: bytes.length - 1 };
  }

  #requireOpen(): FileHandle {
    if (this.#file !== undefined) return this.#file;
    throw new SessionError('closed', `The file ${JSON.stringify(this.#path)} is not open.`);
  }
}

export function overwriteNeedsDatabase(): SessionError {
  return invalid('--overwrite', 'works only for a database; for a file, name a new one');
}

function isJson({ bytes }: ByteLine): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
