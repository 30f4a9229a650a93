import { SessionError } from '../errors/errors.js';
import { checkState } from '../json/check.js';
import { defineMember } from '../members/member.js';
import { unserializable } from '../json/rules.js';
import { isWellFormed } from '../json/text.js';
import { tooLarge, writeJson } from '../json/write.js';
import { APP_PREFIX, isTemp, REMOVED, TEMP_PREFIX, USER_PREFIX } from './scope.js';
import type { StateShape } from '../state/state_shape.js';
import { type StateSchema, validateDelta, validateEntry } from './state_schema.js';
import { isStamped, stampWrite } from './write_order.js';

/**
 * The keys of `S` for an editor to offer; any other key is allowed too.
 *
 * @example
 * ```ts
 * import type { StateKey } from 'adk-session-wasm';
 *
 * const keys: StateKey<{ topic: string }>[] = ['topic', 'user:name'];
 * ```
 */
export type StateKey<S> = (keyof S & string) | (string & {});

/**
 * What `S` says that a key holds: `unknown` for a key that it does not name.
 *
 * @example
 * ```ts
 * import type { StateValue } from 'adk-session-wasm';
 *
 * const topic: StateValue<{ topic: string }, 'topic'> = 'tea';
 * ```
 */
export type StateValue<S, K extends string> = (S & StateShape)[K];

/**
 * Changes for {@link State.update}: `undefined` or {@link State.REMOVED} removes a key.
 *
 * @example
 * ```ts
 * import type { StateChanges } from 'adk-session-wasm';
 *
 * const changes: StateChanges<{ topic: string }> = { topic: undefined, 'user:name': 'Ada' };
 * ```
 */
export type StateChanges<S> = {
  [K in keyof S]?: S[K] | typeof REMOVED | undefined;
} & StateShape;

/** The keys that `S` names, none for a state of any shape. */
type NamedKey<S> = string extends keyof S ? never : keyof S & string;

/** `0` as a default means a number, not the literal. */
type Widened<D> = D extends string
  ? string
  : D extends number
    ? number
    : D extends boolean
      ? boolean
      : D;

/**
 * The half of {@link State} that reads.
 *
 * @example
 * ```ts
 * import type { ReadableState } from 'adk-session-wasm';
 *
 * const isKnown = (state: ReadableState) => state.has('user:name');
 * ```
 */
export interface ReadableState<S extends StateShape = StateShape> {
  /** See {@link State.get}. */
  get<K extends StateKey<S>>(key: K): StateValue<S, K> | undefined;
  get<K extends NamedKey<S>, D>(key: K, defaultValue: D): Exclude<S[K], undefined> | Widened<D>;
  get<T>(key: string, defaultValue: T): Widened<T>;
  get<T>(key: string): T | undefined;
  /** See {@link State.has}. */
  has(key: StateKey<S>): boolean;
  /** See {@link State.keys}. */
  keys(): string[];
  /** See {@link State.toRecord}. */
  toRecord(): StateShape;
  /** See {@link State.toDict}. */
  toDict(): StateShape;
  /** See {@link State.toJSON}. */
  toJSON(): StateShape;
  [Symbol.iterator](): IterableIterator<[string, unknown]>;
}

/** An object that `get` handed out, as it was then. */
interface HandedOut {
  readonly object: object;
  json: string | undefined;
}

/**
 * The value of a key for code of this package that only reads, so that nothing needs to be
 * remembered. It is the live one.
 *
 * @internal
 */
export let peekState: (state: State, key: string) => unknown;

/**
 * Watches values that were written and go into an event now, as if `get` had returned them: whoever
 * wrote them may still hold them, and change them later.
 *
 * @internal
 */
export let watchValues: (state: State, keys: Iterable<string>) => void;

/**
 * The state that an agent reads and writes, and the delta of what it has changed.
 *
 * - A write goes to both: to the state object, where all who share it see it at once, and to the
 *   delta, which an event carries to the store.
 * - Keys are looked up among own properties only: `toString` or `__proto__` are keys like any other.
 * - `null` is a value. Writing `undefined` or {@link State.REMOVED} removes the key.
 * - Changing an object that {@link State.get} returned is a write as well:
 *   `state.get('cart').push(x)` is recorded when the delta is read through {@link State.hasDelta}, a
 *   context or an append. Whoever reads the delta object itself calls
 *   {@link State.recordChanges} before.
 * - The prefixes `app:`, `user:` and `temp:` say how far a key reaches; see {@link State.APP_PREFIX}.
 *
 * @typeParam S - What the keys hold, for the editor and the compiler. Keys that it does not name are
 * allowed, as `unknown`. Nothing is checked at run time: that is what a `stateSchema` is for.
 *
 * @example
 * ```ts
 * import { State } from 'adk-session-wasm';
 *
 * const value = { topic: 'tea' };
 * const delta = {};
 * const state = new State<{ topic: string; 'user:name': string }>(value, delta);
 * state.set('user:name', 'Ada');
 * state.get('topic'); // 'tea', a string
 * state.get('turns', 0); // 0, a number
 * delta; // { 'user:name': 'Ada' }, and `value` has it too
 * ```
 */
export class State<S extends StateShape = StateShape> implements ReadableState<S> {
  /** `'app:'`: shared by all users and sessions of the app, until `deleteAppState`. */
  static readonly APP_PREFIX = APP_PREFIX;
  /** `'user:'`: shared by all sessions of the user in the app, until `deleteUserState`. */
  static readonly USER_PREFIX = USER_PREFIX;
  /** `'temp:'`: lives for one invocation, is never stored, and may be any JavaScript value. */
  static readonly TEMP_PREFIX = TEMP_PREFIX;
  /** The value that removes its key, in `set`, `update` and in an event's delta. */
  static readonly REMOVED = REMOVED;

  static {
    peekState = (state, key) => state.#peek(key);
    watchValues = (state, keys) => {
      for (const key of keys) state.get(key);
    };
  }

  readonly #value: StateShape;
  readonly #delta: StateShape;
  readonly #schema: StateSchema | undefined;
  #handedOut: Map<string, HandedOut> | undefined;

  /**
   * @param value - The state object, written through. Default: a new empty one.
   * @param delta - Collects the writes. Entries which it has already count as writes that are not in
   * `value` yet. Default: a new empty one.
   * @param schema - Checks every write before anything changes.
   */
  constructor(value: NoInfer<Partial<S>> = {}, delta: StateShape = {}, schema?: StateSchema) {
    this.#value = value;
    this.#delta = delta;
    this.#schema = schema;
  }

  /**
   * The value of `key`, or `defaultValue` if there is none. A present `null` is a value.
   *
   * An object is the live one, not a copy, and what is changed in it is recorded: it is compared with
   * what it was at its first `get`, as JSON. The type of a default for a key that `S` does not name
   * is taken on trust.
   */
  get<K extends StateKey<S>>(key: K): StateValue<S, K> | undefined;
  get<K extends NamedKey<S>, D>(key: K, defaultValue: D): Exclude<S[K], undefined> | Widened<D>;
  get<T>(key: string, defaultValue: T): Widened<T>;
  get<T>(key: string): T | undefined;
  get(key: string, defaultValue?: unknown): unknown {
    const value = this.#peek(key);
    if (value === undefined) return defaultValue;
    const isShared = typeof value === 'object' && value !== null && !isTemp(key);
    return isShared ? this.handOut(key, value) : value;
  }

  /** Whether `key` has a value. `null` is one. */
  has(key: StateKey<S>): boolean {
    return this.#peek(key) !== undefined;
  }

  /**
   * Writes one key.
   *
   * @throws SessionError `unserializable` with `path` for what JSON cannot say, but under a `temp:` key;
   * `schema_violation` (a `StateSchemaError`), `invalid_argument` when the state object is frozen,
   * `readonly` in a read-only context. Nothing is written then.
   */
  set<K extends StateKey<S>>(key: K, value: StateValue<S, K>): void {
    this.assertWritable(key);
    requireJson(key, value);
    if (this.#schema !== undefined) validateEntry(this.#schema, key, value);
    this.#write(key, value);
  }

  /**
   * Writes several keys, or none if one of them is refused.
   *
   * @throws SessionError as {@link State.set}
   */
  update(changes: StateChanges<S>): void {
    const keys = Object.keys(changes);
    for (const key of keys) {
      this.assertWritable(key);
      requireJson(key, changes[key]);
    }
    if (this.#schema !== undefined) validateDelta(this.#schema, changes);
    for (const key of keys) this.#write(key, changes[key]);
  }

  /**
   * Removes a key; the delta gets {@link State.REMOVED}, also if this state has no such key, as the
   * store may.
   *
   * @returns Whether it was there.
   * @throws SessionError as {@link State.set}
   */
  delete(key: StateKey<S>): boolean {
    this.assertWritable(key);
    if (this.#schema !== undefined) validateEntry(this.#schema, key, REMOVED);
    const had = this.has(key);
    this.#write(key, REMOVED);
    return had;
  }

  /** Whether anything has been written, or changed in an object that `get` returned. */
  hasDelta(): boolean {
    this.recordChanges();
    return Object.keys(this.#delta).length > 0;
  }

  /**
   * Writes to the delta what was changed in objects that {@link State.get} returned. Needed only
   * before reading the delta object that was given to the constructor; contexts and `hasDelta` do it.
   *
   * @example
   * ```ts
   * import { State } from 'adk-session-wasm';
   *
   * const delta = {};
   * const state = new State({ cart: ['tea'] }, delta);
   * state.get<string[]>('cart')?.push('milk');
   * state.recordChanges();
   * delta; // { cart: ['tea', 'milk'] }
   * ```
   */
  recordChanges(): void {
    if (this.#handedOut === undefined) return;
    for (const [key, seen] of this.#handedOut) {
      if (this.#peek(key) !== seen.object) {
        // Overwritten or removed since: that write is the newer one.
        this.#handedOut.delete(key);
        continue;
      }
      const json = jsonText(seen.object);
      // What JSON cannot say (a cycle) cannot be compared: taken as changed, so that the append tells.
      if (json !== undefined && json === seen.json) continue;
      seen.json = json;
      this.#write(key, seen.object);
    }
  }

  /** All keys that have a value, those of the state object first, in its order. */
  keys(): string[] {
    const keys = Object.keys(this.#value).filter((key) => this.has(key));
    for (const key of Object.keys(this.#delta)) {
      if (!Object.hasOwn(this.#value, key) && this.has(key)) keys.push(key);
    }
    return keys;
  }

  /** Keys and values as {@link State.get} returns them. */
  *[Symbol.iterator](): IterableIterator<[string, unknown]> {
    for (const key of this.keys()) yield [key, this.get(key)];
  }

  /**
   * All keys and values as a new object. Arrays and plain objects in it are copies, so that changing
   * them is not mistaken for a write; `temp:` values are passed on as they are.
   */
  toRecord(): StateShape {
    const record: StateShape = {};
    for (const key of this.keys()) {
      const value = this.#peek(key);
      define(record, key, isTemp(key) ? value : copyOf(value));
    }
    return record;
  }

  /** {@link State.toRecord} under the name that Python's ADK has. */
  toDict(): StateShape {
    return this.toRecord();
  }

  /** For `JSON.stringify`: all but the `temp:` values, which need not be JSON. */
  toJSON(): StateShape {
    const record = this.toRecord();
    for (const key of Object.keys(record)) if (isTemp(key)) delete record[key];
    return record;
  }

  /** Called before every write; contexts whose state may not be written throw here. */
  protected assertWritable(key: string): void {
    void key;
  }

  /** What `get` returns for an object: the object, remembered as it is now. */
  protected handOut(key: string, object: object): unknown {
    this.#handedOut ??= new Map();
    if (this.#handedOut.get(key)?.object !== object) {
      this.#handedOut.set(key, { object, json: jsonText(object) });
    }
    return object;
  }

  #peek(key: string): unknown {
    if (this.#isUnapplied(key)) {
      const written = this.#delta[key];
      return written === REMOVED ? undefined : written;
    }
    return Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
  }

  /** Whether the delta has an entry which was put there by hand, and so is not in the state object. */
  #isUnapplied(key: string): boolean {
    return Object.hasOwn(this.#delta, key) && !isStamped(this.#delta, key);
  }

  #write(key: string, value: unknown): void {
    const removes = value === undefined || value === REMOVED;
    // The state object first: if it refuses, the delta is as before.
    const done = removes
      ? Reflect.deleteProperty(this.#value, key)
      : define(this.#value, key, value);
    if (!done || !define(this.#delta, key, removes ? REMOVED : value)) {
      throw new SessionError(
        'invalid_argument',
        `state key ${JSON.stringify(key)} cannot be written: the session's state or the delta is frozen; use a handle as the service returned it`,
        { key },
      );
    }
    stampWrite(this.#value, this.#delta, key);
  }
}

/**
 * {@link defineMember}, which does not throw.
 *
 * @returns whether it could be written
 * @internal
 */
export function define(target: object, key: string, value: unknown): boolean {
  try {
    return defineMember(target, key, value);
  } catch {
    return false;
  }
}

/**
 * Refuses what JSON cannot say, so that the stack leads to the line that writes it.
 *
 * @throws SessionError `unserializable`
 */
function requireJson(key: string, value: unknown): void {
  if (isTemp(key)) return;
  if (!isWellFormed(key)) throw unserializable([key], 'is a key with half of a surrogate pair');
  const verdict = value === undefined ? 'plain' : checkState(value);
  if (verdict === 'too large') throw unserializable([key], tooLarge);
  if (verdict === 'special') writeJson(value, { rules: 'state', path: [key] });
}

/** How a value is compared: `undefined` if JSON cannot say it. */
function jsonText(value: object): string | undefined {
  try {
    return checkState(value) === 'plain'
      ? JSON.stringify(value)
      : writeJson(value, { rules: 'state' });
  } catch {
    return undefined;
  }
}

/** A copy of what is JSON; anything else (written just now, and not yet refused) is passed on. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || checkState(value) !== 'plain') return value;
  return JSON.parse(JSON.stringify(value));
}
