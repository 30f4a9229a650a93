import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Casing } from '../../python/casing.js';
import type { TimeUnit } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import { FORMAT, VERSION } from '../../files/format/stream_format.js';
import { nameOf, parsedLine, unitOfHeader } from '../../files/import/import_sessions.js';
import { requireCasing, type SessionFile, sessionToFile } from '../../files/format/session_file.js';
import { requireId } from '../../model/ids.js';
import { invalid } from '../../call/call.js';
import type { StorageKey } from '../../storage/adapter.js';
import { type ByteLine, byteLines } from './byte_lines.js';
import { withFileErrors } from './file_errors.js';
import { type Fingerprint, fingerprintOfFile } from './fingerprint.js';
import { nameOfKey, type SessionCopy, sessionOfCopy, type StateCopy } from './session_copy.js';
import { mergeState } from './shared_state.js';
import type { Target } from './store.js';

/** The position of a line, in bytes. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

/**
 * A file of JSON Lines, as `exportSessions` writes it. It only grows, except that an unfinished last line of
 * an interrupted run is cut off. Memory holds only the ids and positions of the lines.
 */
export class FileTarget implements Target {
  readonly isFile = true;
  readonly #path: string;
  readonly #sessions = new Map<string, Place>();
  /** A state may have several lines, each with the keys that the lines before it lack. */
  readonly #states = new Map<string, Place[]>();
  #dialect: { casing: Casing; timeUnit: TimeUnit } = { casing: 'camel', timeUnit: 'milliseconds' };
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
      const found = await stat(this.#path).catch(() => undefined);
      await mkdir(dirname(this.#path), { recursive: true });
      this.#file = await open(this.#path, found === undefined ? 'wx+' : 'r+');
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
    const place = this.#sessions.get(nameOfKey(key));
    if (place === undefined) return undefined;
    return fingerprintOfFile(await this.#read(place), this.#dialect.timeUnit);
  }

  async create(session: SessionCopy): Promise<boolean> {
    const name = nameOfKey(session.key);
    if (this.#sessions.has(name)) return false;
    this.#sessions.set(
      name,
      await this.#append(sessionToFile(sessionOfCopy(session), this.#dialect)),
    );
    return true;
  }

  replace(): Promise<void> {
    return Promise.reject(overwriteNeedsDatabase());
  }

  async state(key: StateCopy['key']): Promise<string> {
    let state = '{}';
    for (const place of this.#states.get(nameOfKey(key)) ?? []) {
      const { appState, userState } = parsedLine(await this.#read(place));
      state = mergeState(state, JSON.stringify(userState ?? appState), false).state ?? state;
    }
    return state;
  }

  async addState({ key, state }: StateCopy, overwrite: boolean): Promise<readonly string[]> {
    // Round the numbers as the file stores them. Otherwise a second run would find other values there.
    const given = JSON.stringify(JSON.parse(state));
    const merged = mergeState(await this.state(key), given, overwrite);
    if (merged.added === undefined) return merged.kept;
    const { appName, userId } = key;
    const added = JSON.parse(merged.added) as SessionFile;
    const line = userId === undefined ? { appState: added } : { userId, userState: added };
    this.#addState(key, await this.#append({ appName, ...line }));
    return merged.kept;
  }

  #addState(key: StateCopy['key'], place: Place): void {
    const name = nameOfKey(key);
    this.#states.set(name, [...(this.#states.get(name) ?? []), place]);
  }

  /** Reads the existing lines, and prepares the end of the file for the next line. */
  async #scan(file: FileHandle): Promise<void> {
    const header = `${JSON.stringify({ format: FORMAT, version: VERSION, ...this.#dialect })}\n`;
    for await (const line of byteLines(file)) {
      const isWhole = line.isEnded || isJson(line);
      if (isWhole) this.#take(line);
      // The part that is cut off must be ours: the beginning of our header, or a line after it.
      else if (line.offset === 0 && !header.startsWith(line.bytes.toString())) {
        throw this.#stranger();
      }
      this.#size = line.offset + (isWhole ? line.bytes.length + 1 : 0);
      if (isWhole && !line.isEnded) await file.write('\n', this.#size - 1);
    }
    await file.truncate(this.#size);
    if (!this.#hasHeader) await this.#appendText(header);
  }

  #take({ offset, bytes }: ByteLine): void {
    const text = bytes.toString('utf8');
    if (text.trim() === '') return;
    const json = this.#parsed(text);
    if (Object.hasOwn(json, 'format')) {
      const timeUnit = unitOfHeader(json);
      this.#dialect = { casing: requireCasing(json.casing), timeUnit };
      this.#hasHeader = true;
      return;
    }
    if (!this.#hasHeader) throw this.#stranger();
    const { kind, ...names } = nameOf(json, undefined);
    const appName = requireId('appName', names.appName);
    const place = { offset, length: bytes.length };
    if (kind === 'appState') {
      this.#addState({ appName }, place);
      return;
    }
    const userId = requireId('userId', names.userId);
    if (kind === 'userState') {
      this.#addState({ appName, userId }, place);
      return;
    }
    const sessionId = requireId('id', names.sessionId);
    this.#sessions.set(nameOfKey({ appName, userId, sessionId }), place);
  }

  #parsed(text: string): SessionFile {
    try {
      return parsedLine(text);
    } catch (cause) {
      throw this.#stranger(cause);
    }
  }

  #stranger(cause?: unknown): SessionError {
    const what = `The file ${JSON.stringify(this.#path)} is there and holds something else`;
    const message = `${what} than what exportSessions or this command write; name another.`;
    return new SessionError('invalid_argument', message, { key: 'TO', cause });
  }

  async #read({ offset, length }: Place): Promise<string> {
    const { buffer, bytesRead } = await withFileErrors(this.#path, () =>
      this.#opened().read(Buffer.allocUnsafe(length), 0, length, offset),
    );
    return buffer.toString('utf8', 0, bytesRead);
  }

  #append(value: SessionFile): Promise<Place> {
    return this.#appendText(`${JSON.stringify(value)}\n`);
  }

  async #appendText(text: string): Promise<Place> {
    const bytes = Buffer.from(text, 'utf8');
    const offset = this.#size;
    await withFileErrors(this.#path, async () => {
      let written = 0;
      while (written < bytes.length) {
        const rest = bytes.length - written;
        const { bytesWritten } = await this.#opened().write(bytes, written, rest, offset + written);
        written += bytesWritten;
      }
    });
    this.#size += bytes.length;
    return { offset, length: bytes.length - 1 };
  }

  #opened(): FileHandle {
    if (this.#file !== undefined) return this.#file;
    throw new SessionError('closed', `The file ${JSON.stringify(this.#path)} is not open.`);
  }
}

export function overwriteNeedsDatabase(): SessionError {
  return invalid('--overwrite', 'needs a database to write to: a file only grows; name a new one');
}

function isJson({ bytes }: ByteLine): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
