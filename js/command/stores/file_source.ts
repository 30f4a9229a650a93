import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimeUnit } from '../../python/time.js';
import { isSessionError, SessionError } from '../../errors/errors.js';
import { nameOf, parsedLine, unitOfHeader } from '../../files/import/import_sessions.js';
import { linesOf } from '../../files/import/lines.js';
import { malformed } from '../../files/format/malformed.js';
import { parseJson } from '../../files/format/recorded_session.js';
import { type SessionFile, sessionFromFile } from '../../files/format/session_file.js';
import { requireId } from '../../model/ids.js';
import { isPlainObject, kindOf } from '../../json/rules.js';
import { APP_PREFIX, USER_PREFIX } from '../../state/scope.js';
import { snapshotState } from '../../model/snapshot.js';
import { withFileErrors } from './file_errors.js';
import { copyOfSession, type SessionCopy, type StateCopy } from './session_copy.js';
import { isOfOneSession, type Item, type Source } from './store.js';

/** Names of the files in a folder that are read as session files. */
const SESSION_FILE = /\.(?:json|jsonl|ndjson)$/i;

export interface FileSourceOptions {
  /** The apps to read; if empty, all apps. */
  readonly apps: readonly string[];
  /** The unit of times; absent: inferred from each file. */
  readonly timeUnit?: TimeUnit | undefined;
}

/** Reads a session file of any ADK, a file of JSON Lines, or a folder of such files. */
export class FileSource implements Source {
  readonly #path: string;
  readonly #options: FileSourceOptions;
  #files: { path: string; size: number }[] = [];
  /** The last state yielded for each scope: every session of a user repeats the user's and the app's state. */
  readonly #states = new Map<'user' | 'app', string>();

  constructor(path: string, options: FileSourceOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#files = await withFileErrors(this.#path, async () => {
      const isFolder = (await stat(this.#path)).isDirectory();
      const names = isFolder ? (await readdir(this.#path)).filter(isSessionFile).sort() : [''];
      const paths = names.map((name) => join(this.#path, name));
      return Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })));
    });
    if (this.#files.length > 0) return;
    throw new SessionError(
      'invalid_argument',
      `The folder ${JSON.stringify(this.#path)} holds no .json, .jsonl or .ndjson file.`,
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns the total size of the files in bytes. */
  size(): Promise<number> {
    return Promise.resolve(this.#files.reduce((sum, { size }) => sum + size, 0));
  }

  async *items(): AsyncGenerator<Item, void> {
    let before = 0;
    for (const { path, size } of this.#files) {
      try {
        yield* this.#file(path, before, size);
      } catch (error) {
        // The file may not be text, for example. The other files can still be read.
        if (!isSessionError(error) || !isOfOneSession(error)) throw error;
        yield { kind: 'unreadable', at: before + size, name: path, error };
      }
      before += size;
    }
  }

  async *#file(path: string, before: number, size: number): AsyncGenerator<Item, void> {
    if (!(await this.#isOneSession(path))) {
      yield* this.#lines(path, before);
      return;
    }
    const text = await withFileErrors(path, () => readFile(path, 'utf8'));
    const read = () => this.#items(asObject(parseJson(text)), this.#options.timeUnit);
    yield* this.#guarded(path, before + size, read);
  }

  /**
   * Returns whether the file is one session in several lines: in JSON Lines, the first line alone is valid
   * JSON.
   */
  async #isOneSession(path: string): Promise<boolean> {
    for await (const line of this.#read(path)) {
      if (line.trim() === '') continue;
      try {
        JSON.parse(line.replace(/^\ufeff/, ''));
        return false;
      } catch {
        return true;
      }
    }
    return false;
  }

  async *#lines(path: string, before: number): AsyncGenerator<Item, void> {
    let { timeUnit } = this.#options;
    let at = before;
    let number = 0;
    for await (const line of this.#read(path)) {
      at += Buffer.byteLength(line) + 1;
      number += 1;
      if (line.trim() === '') continue;
      const name = `${path}, line ${number}`;
      yield* this.#guarded(name, at, () => {
        const json = parsedLine(line);
        if (!Object.hasOwn(json, 'format')) return this.#items(json, timeUnit);
        const unit = unitOfHeader(json);
        timeUnit = this.#options.timeUnit ?? unit;
        return [];
      });
    }
  }

  async *#read(path: string): AsyncGenerator<string, void> {
    const lines = linesOf(createReadStream(path));
    try {
      for (;;) {
        const { done, value } = await withFileErrors(path, () => lines.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      await lines.return();
    }
  }

  /** Yields the items of one line or file, or an `unreadable` item with the error. */
  *#guarded(name: string, at: number, read: () => readonly Part[]): Generator<Item, void> {
    let parts: readonly Part[];
    try {
      parts = read();
    } catch (error) {
      if (!isSessionError(error) || !isOfOneSession(error)) throw error;
      yield { kind: 'unreadable', at, name, error };
      return;
    }
    for (const part of parts) yield { at, ...part };
  }

  #items(json: SessionFile, timeUnit: TimeUnit | undefined): readonly Part[] {
    const { kind, ...names } = nameOf(json, undefined);
    if (kind !== 'session') {
      const key = {
        appName: requireId('appName', names.appName),
        ...(kind === 'userState' && { userId: requireId('userId', names.userId) }),
      };
      const value = json[kind];
      if (!isPlainObject(value)) {
        throw malformed([kind], `must be an object; it is ${kindOf(value)}`);
      }
      return this.#isAsked(key.appName) ? this.#fresh({ key, state: textOf(value) }) : [];
    }
    const session = copyOfSession(sessionFromFile(json, { timeUnit }));
    if (!this.#isAsked(session.key.appName)) return [];
    return [...this.#shared(session), { kind: 'session', session }];
  }

  #isAsked(app: string): boolean {
    return this.#options.apps.length === 0 || this.#options.apps.includes(app);
  }

  #shared({ key: { appName, userId }, shared }: SessionCopy): Part[] {
    const keysOf = (prefix: string) =>
      Object.entries(shared)
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => [key.slice(prefix.length), value] as const);
    const app = Object.fromEntries(keysOf(APP_PREFIX));
    const user = Object.fromEntries(keysOf(USER_PREFIX));
    return [
      ...this.#fresh({ key: { appName }, state: textOf(app) }),
      ...this.#fresh({ key: { appName, userId }, state: textOf(user) }),
    ];
  }

  /** Returns the state as an item, unless it is empty or the same as the last one of its scope. */
  #fresh(state: StateCopy): Part[] {
    const scope = state.key.userId === undefined ? 'app' : 'user';
    const text = JSON.stringify([state.key, state.state]);
    if (state.state === '{}' || this.#states.get(scope) === text) return [];
    this.#states.set(scope, text);
    return [{ kind: 'state', state }];
  }
}

/** An item without its position in the source. */
type Part =
  | { readonly kind: 'state'; readonly state: StateCopy }
  | { readonly kind: 'session'; readonly session: SessionCopy };

function textOf(state: Record<string, unknown>): string {
  return snapshotState(state).text;
}

function asObject(json: unknown): SessionFile {
  if (isPlainObject(json)) return json;
  throw malformed([], `must be an object; it is ${kindOf(json)}`);
}

function isSessionFile(name: string): boolean {
  return SESSION_FILE.test(name);
}
