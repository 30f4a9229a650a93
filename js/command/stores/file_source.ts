import { createReadStream, type Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimeUnit } from '../../python/time.js';
import { SessionError } from '../../errors/errors.js';
import { describeLine, parseLine, readHeaderUnit } from '../../files/format/stream_format.js';
import { readLines } from '../../files/import/read_lines.js';
import { malformedFile, requireJsonObject } from '../../files/format/malformed_file.js';
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
    const isFolder = (await this.#stat(this.#path)).isDirectory();
    const names = isFolder
      ? (await withFileErrors(this.#path, () => readdir(this.#path))).filter(isSessionFile).sort()
      : [''];
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#path, name);
        return { path, stats: await this.#stat(path) };
      }),
    );
    this.#files = files.flatMap(({ path, stats }) =>
      stats.isDirectory() ? [] : { path, size: stats.size },
    );
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
        yield* this.#readFile(path, bytesBefore);
      } catch (error) {
        // The file may not be text, for example. The other files can still be read.
        requireSessionError(error);
        yield { kind: 'unreadable', position: bytesBefore + size, name: path, error };
      }
      bytesBefore += size;
    }
  }

  /**
   * Reads a file once, since it may be a pipe. The file is JSON Lines if one of its lines is. Else it is one session,
   * in all of its lines.
   */
  async *#readFile(path: string, bytesBefore: number): AsyncGenerator<Item, void> {
    let { timeUnit } = this.#options;
    const readLine = ({ text }: Line): readonly PositionlessItem[] => {
      const json = parseLine(text);
      if (!Object.hasOwn(json, 'format')) return this.#parseItems(json, timeUnit);
      const unit = readHeaderUnit(json);
      timeUnit = this.#options.timeUnit ?? unit;
      return [];
    };
    let position = bytesBefore;
    let number = 0;
    let hasJsonLines = false;
    /** The lines that are not read yet. */
    let lines: Line[] = [];
    for await (const text of this.#textLines(path)) {
      position += Buffer.byteLength(text) + 1;
      number += 1;
      if (text.trim() === '') continue;
      hasJsonLines ||= isJsonLine(text, lines.length === 0);
      lines.push({ text, number, position });
      if (!hasJsonLines) continue;
      for (const line of lines) {
        const name = `${path}, line ${line.number}`;
        yield* this.#orUnreadable(name, line.position, () => readLine(line));
      }
      lines = [];
    }
    if (hasJsonLines) return;
    const text = lines.map((line) => line.text).join('\n');
    yield* this.#orUnreadable(path, position, () => {
      if (text === '') throw malformedFile([], 'is empty');
      return this.#parseItems(requireJsonObject(parseJson(text), []), timeUnit);
    });
  }

  #stat(path: string): Promise<Stats> {
    return withFileErrors(path, () => stat(path));
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
    const { kind, ...names } = describeLine(json);
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

/** A line of a file. */
interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Where the line ends in the source, in bytes. */
  readonly position: number;
}

/**
 * Whether a line is one of JSON Lines. The first line is if it is JSON. Any other must name its format or its app: a
 * session in several lines may have an event in each.
 */
function isJsonLine(text: string, isFirst: boolean): boolean {
  if (!isFirst && !text.startsWith('{')) return false;
  try {
    const names = Object.keys(Object(parseJson(text)) as object);
    return isFirst || ['format', 'appName', 'app_name'].some((name) => names.includes(name));
  } catch {
    return false;
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
