import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimeUnit } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import { describeLine, parseLine, readHeaderUnit } from '../../files/import/import_sessions.js';
import { readLines } from '../../files/import/read_lines.js';
import { requireJsonObject } from '../../files/format/malformed_file.js';
import { parseJson } from '../../files/format/recorded_session.js';
import { type SessionFile, storedSessionIn } from '../../files/format/session_file.js';
import { requireId } from '../../model/values/ids.js';
import { SHARED_PREFIXES, SHARED_SCOPES, type SharedScope } from '../../state/scope.js';
import { scopeOf } from '../../storage/scopes.js';
import { snapshotDelta } from '../../state/delta.js';
import { withFileErrors } from './file_errors.js';
import { toSessionCopy, type SessionCopy, type StateCopy } from './session_copy.js';
import { type Item, requireSessionError, type Source } from './store.js';

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
  readonly #lastStates = new Map<SharedScope, string>();

  constructor(path: string, options: FileSourceOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#files = await withFileErrors(this.#path, async () => {
      const isFolder = (await stat(this.#path)).isDirectory();
      const names = isFolder ? (await readdir(this.#path)).filter(isSessionFile).sort() : [''];
      const paths = names.map((name) => join(this.#path, name));
      const stats = await Promise.all(paths.map(async (path) => [path, await stat(path)] as const));
      return stats.flatMap(([path, stat]) => (stat.isDirectory() ? [] : { path, size: stat.size }));
    });
    if (this.#files.length > 0) return;
    throw new SessionError(
      'invalid_argument',
      `The folder ${JSON.stringify(this.#path)} has no .json, .jsonl or .ndjson file.`,
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
    let bytesBefore = 0;
    for (const { path, size } of this.#files) {
      try {
        yield* this.#readFile(path, bytesBefore, size);
      } catch (error) {
        // The file may not be text, for example. The other files can still be read.
        requireSessionError(error);
        yield { kind: 'unreadable', position: bytesBefore + size, name: path, error };
      }
      bytesBefore += size;
    }
  }

  async *#readFile(path: string, bytesBefore: number, size: number): AsyncGenerator<Item, void> {
    if (!(await this.#isOneSession(path))) {
      yield* this.#readJsonLines(path, bytesBefore);
      return;
    }
    const text = await withFileErrors(path, () => readFile(path, 'utf8'));
    const read = () =>
      this.#parseItems(requireJsonObject(parseJson(text), []), this.#options.timeUnit);
    yield* this.#orUnreadable(path, bytesBefore + size, read);
  }

  /**
   * Returns whether the file is one session in several lines: in JSON Lines, the first line alone is valid
   * JSON.
   */
  async #isOneSession(path: string): Promise<boolean> {
    for await (const line of this.#textLines(path)) {
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

  async *#readJsonLines(path: string, bytesBefore: number): AsyncGenerator<Item, void> {
    let { timeUnit } = this.#options;
    let position = bytesBefore;
    let number = 0;
    for await (const line of this.#textLines(path)) {
      position += Buffer.byteLength(line) + 1;
      number += 1;
      if (line.trim() === '') continue;
      const name = `${path}, line ${number}`;
      yield* this.#orUnreadable(name, position, () => {
        const json = parseLine(line);
        if (!Object.hasOwn(json, 'format')) return this.#parseItems(json, timeUnit);
        const unit = readHeaderUnit(json);
        timeUnit = this.#options.timeUnit ?? unit;
        return [];
      });
    }
  }

  async *#textLines(path: string): AsyncGenerator<string, void> {
    const lines = readLines(createReadStream(path));
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
  *#orUnreadable(
    name: string,
    position: number,
    read: () => readonly PositionlessItem[],
  ): Generator<Item, void> {
    let parts: readonly PositionlessItem[];
    try {
      parts = read();
    } catch (error) {
      requireSessionError(error);
      yield { kind: 'unreadable', position, name, error };
      return;
    }
    for (const part of parts) yield { position, ...part };
  }

  #parseItems(json: SessionFile, timeUnit: TimeUnit | undefined): readonly PositionlessItem[] {
    const { kind, ...names } = describeLine(json, undefined);
    if (kind !== 'session') {
      const key = {
        appName: requireId('appName', names.appName),
        ...(kind === 'userState' && { userId: requireId('userId', names.userId) }),
      };
      const value = requireJsonObject(json[kind], [kind]);
      return this.#isSelected(key.appName)
        ? this.#unlessRepeated({ key, state: stateText(value) })
        : [];
    }
    const session = toSessionCopy(storedSessionIn(json, { timeUnit }));
    if (!this.#isSelected(session.key.appName)) return [];
    return [...this.#sharedStates(session), { kind: 'session', session }];
  }

  #isSelected(app: string): boolean {
    return this.#options.apps.length === 0 || this.#options.apps.includes(app);
  }

  #sharedStates({ key: { appName, userId }, shared }: SessionCopy): PositionlessItem[] {
    const keys: Record<SharedScope, StateCopy['key']> = {
      app: { appName },
      user: { appName, userId },
    };
    return SHARED_SCOPES.flatMap((scope) => {
      const prefix = SHARED_PREFIXES[scope];
      const entries = Object.entries(shared)
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, value]) => [key.slice(prefix.length), value] as const);
      const state = stateText(Object.fromEntries(entries));
      return this.#unlessRepeated({ key: keys[scope], state });
    });
  }

  /** Returns the state as an item, unless it is empty or the same as the last one of its scope. */
  #unlessRepeated(state: StateCopy): PositionlessItem[] {
    const scope = scopeOf(state.key);
    const text = JSON.stringify([state.key, state.state]);
    if (state.state === '{}' || this.#lastStates.get(scope) === text) return [];
    this.#lastStates.set(scope, text);
    return [{ kind: 'state', state }];
  }
}

/** An item without its position in the source. */
type PositionlessItem =
  | { readonly kind: 'state'; readonly state: StateCopy }
  | { readonly kind: 'session'; readonly session: SessionCopy };

function stateText(state: Record<string, unknown>): string {
  return snapshotDelta(state, 'state').text;
}

function isSessionFile(name: string): boolean {
  return SESSION_FILE.test(name);
}
