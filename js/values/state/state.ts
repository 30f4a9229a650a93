/**
 * The state of a session as JavaScript sees it: keys, scopes, deltas, and checks by a schema.
 *
 * What a write does to stored states is decided in Rust, `src/core/state`.
 */
import { requireObject, requireText } from '../errors/option_values.js';
import { SessionError } from '../errors/errors.js';
import { unreadable } from '../json/unreadable.js';
import { tryDefineMember, tryDeleteMember, markRaw } from '../members.js';
import { APP_PREFIX, isTemp, REMOVED, TEMP_PREFIX, USER_PREFIX } from './scope.js';
import type {
  NamedKey,
  StateChanges,
  StateKey,
  StateShape,
  StateValue,
  Widened,
} from './state_shape.js';
import { copyPlain, jsonText, requireJson, plainObjectEntries } from './delta.js';
import { optionalStateSchema, type StateSchema, validateEntry } from './state_schema.js';
import { isStamped, stampWrite } from './write_order.js';

/**
 * The reading methods of {@link State}.
 */
export type ReadableState<S extends object = StateShape> = Pick<
  State<S>,
  'get' | 'has' | 'keys' | 'toRecord' | 'toJSON' | typeof Symbol.iterator
>;

/** An object that `get` returned, with its JSON text at that time. */
interface WatchedObject {
  readonly object: object;
  json: string | undefined;
}

/**
 * Returns the live value of a key, for code of this package that only reads it. Changes to the
 * value are not tracked.
 *
 * @internal
 */
export let peekState: (state: State, key: string) => unknown;

/**
 * Tracks values that are written and go into an event now, as if `get` had returned them. Their
 * writer may still hold them and change them later.
 *
 * @internal
 */
export let watchValues: (state: State, keys: Iterable<string>) => void;

/**
 * The state that an agent reads and writes, and the delta of its changes.
 *
 * - A write changes the state object and the delta. All who share the state object see the write
 *   at once. An event carries the delta to the store.
 * - Only own properties count: `toString` or `__proto__` are ordinary keys.
 * - `null` is a value. Writing `undefined` or {@link State.REMOVED} removes the key.
 * - Changing an object that {@link State.get} returned is a write as well.
 *   `state.get('cart').push(x)` is recorded when {@link State.hasDelta}, a context or an append
 *   reads the delta. Call {@link State.recordChanges} before you read the delta object yourself.
 * - The prefixes `app:`, `user:` and `temp:` give the scope of a key; see {@link State.APP_PREFIX}.
 *
 * @typeParam S - The types of the values, for the editor and the compiler. Other keys are allowed,
 *   as `unknown`. Nothing is checked at run time; use a `stateSchema` for that.
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
export class State<S extends object = StateShape> {
  /** `'app:'`: shared by all users and sessions of the app, until `deleteAppState`. */
  static readonly APP_PREFIX = APP_PREFIX;
  /** `'user:'`: shared by all sessions of the user in the app, until `deleteUserState`. */
  static readonly USER_PREFIX = USER_PREFIX;
  /** `'temp:'`: lives for one invocation, is never stored, and may be any JavaScript value. */
  static readonly TEMP_PREFIX = TEMP_PREFIX;
  /** The value that removes its key, in `set`, `update` and in an event's delta. */
  static readonly REMOVED = REMOVED;

  static {
    markRaw(this.prototype);
    peekState = (state, key) => state.#peek(key);
    watchValues = (state, keys) => {
      for (const key of keys) state.get(key);
    };
  }

  readonly #value: StateShape;
  readonly #delta: StateShape;
  readonly #schema: StateSchema | undefined;
  #watched: Map<string, WatchedObject> | undefined;

  /**
   * @param value - The state object that is read and written. Default: a new empty one.
   * @param delta - Collects the writes. Entries that it already has count as writes that are not in
   *   `value` yet. Default: a new empty one.
   * @param schema - Checks every write before anything changes.
   */
  constructor(value: NoInfer<Partial<S>> = {}, delta: StateShape = {}, schema?: StateSchema) {
    requireObject('value', value);
    requireObject('delta', delta);
    this.#value = value;
    this.#delta = delta;
    this.#schema = optionalStateSchema(schema);
  }

  /**
   * Returns the value of `key`, or `defaultValue` if it has none. A stored `null` is a value.
   *
   * An object is returned live and not as a copy. Changes made in it are recorded, by comparing it
   * as JSON with its state at the first `get`. The type of a default for a key that `S` does not
   * name is not checked.
   */
  get<K extends StateKey<S>>(key: K): StateValue<S, K> | undefined;
  get<K extends NamedKey<S>, D>(key: K, defaultValue: D): Exclude<S[K], undefined> | Widened<D>;
  get<T>(key: string, defaultValue: T): Widened<T>;
  get<T>(key: string): T | undefined;
  get(key: string, defaultValue?: unknown): unknown {
    requireText('key', key);
    const value = this.#peek(key);
    if (value === undefined) return defaultValue;
    const isWatched = typeof value === 'object' && value !== null && !isTemp(key);
    return isWatched ? this.exposeObject(key, value) : value;
  }

  /** Returns whether `key` has a value. `null` is one. */
  has(key: StateKey<S>): boolean {
    requireText('key', key);
    return this.#peek(key) !== undefined;
  }

  /**
   * Writes one key. If it throws, nothing is written.
   *
   * @throws SessionError `unserializable` with `path` if JSON cannot represent the value, except
   *   under a `temp:` key; `schema_violation` (a `StateSchemaError`); `invalid_argument` if the
   *   state object is frozen; `readonly` in a read-only context
   */
  set<K extends StateKey<S>>(key: K, value: StateValue<S, K>): void {
    requireText('key', key);
    this.#check(key, value);
    this.#write(key, value);
  }

  /**
   * Writes several keys, or none if one of them is refused.
   *
   * @throws SessionError as {@link State.set}
   */
  update(changes: StateChanges<S>): void {
    // Each value is read once: a getter may return another one the next time.
    const entries = plainObjectEntries(changes, 'The changes');
    for (const [key, value] of entries) this.#check(key, value);
    for (const [key, value] of entries) this.#write(key, value);
  }

  /**
   * Removes a key. The delta gets {@link State.REMOVED} even if this state has no such key, because
   * the store may have it.
   *
   * @returns Whether the key had a value.
   * @throws SessionError as {@link State.set}
   */
  delete(key: StateKey<S>): boolean {
    requireText('key', key);
    this.#check(key, REMOVED);
    const hadValue = this.has(key);
    this.#write(key, REMOVED);
    return hadValue;
  }

  /** Returns whether anything was written, or changed in an object that `get` returned. */
  hasDelta(): boolean {
    this.recordChanges();
    return keysOf(this.#delta).length > 0;
  }

  /**
   * Writes changes in objects that {@link State.get} returned to the delta. Call it only before you
   * read the delta object that you gave to the constructor; contexts and `hasDelta` call it
   * themselves.
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
    if (this.#watched === undefined) return;
    for (const [key, watched] of this.#watched) {
      if (this.#peek(key) !== watched.object) {
        // Overwritten or removed since; that write is newer.
        this.#watched.delete(key);
        continue;
      }
      const json = jsonText(watched.object);
      // A value that JSON cannot represent (a cycle) cannot be compared. It counts as changed, so
      // that the append reports it.
      if (json !== undefined && json === watched.json) continue;
      watched.json = json;
      this.#write(key, watched.object);
    }
  }

  /** Returns all keys with a value: first those of the state object, in its order. */
  keys(): string[] {
    const keys = new Set([...keysOf(this.#value), ...keysOf(this.#delta)]);
    return [...keys].filter((key) => this.has(key));
  }

  /** Iterates over keys and values, as {@link State.get} returns them. */
  *[Symbol.iterator](): IterableIterator<[string, unknown]> {
    for (const key of this.keys()) yield [key, this.get(key)];
  }

  /**
   * Returns all keys and values as a new object. Arrays and plain objects in it are copies, so that
   * changing them is not recorded as a write. `temp:` values are the originals.
   */
  toRecord(): Partial<S> & StateShape {
    const record: StateShape = {};
    for (const key of this.keys()) {
      const value = this.#peek(key);
      tryDefineMember(record, key, isTemp(key) ? value : copyPlain(value));
    }
    return record as Partial<S> & StateShape;
  }

  /** Called by `JSON.stringify`. Leaves out `temp:` values, which need not be JSON. */
  toJSON(): StateShape {
    const record: StateShape = this.toRecord();
    for (const key of Object.keys(record)) if (isTemp(key)) delete record[key];
    return record;
  }

  /**
   * Called before every write. Contexts whose state may not be written throw here.
   *
   * @internal
   */
  protected assertWritable(key: string): void {
    void key;
  }

  /**
   * Returns the object for `get`, and remembers its JSON text.
   *
   * @internal
   */
  protected exposeObject(key: string, object: object): unknown {
    this.#watched ??= new Map();
    if (this.#watched.get(key)?.object !== object) {
      this.#watched.set(key, { object, json: jsonText(object) });
    }
    return object;
  }

  /** Checks a write before anything changes. */
  #check(key: string, value: unknown): void {
    this.assertWritable(key);
    requireJson(key, value);
    if (this.#schema !== undefined) validateEntry(this.#schema, key, value);
  }

  #peek(key: string): unknown {
    try {
      if (this.#isUnapplied(key)) {
        const deltaValue = this.#delta[key];
        return deltaValue === REMOVED ? undefined : deltaValue;
      }
      return Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
    } catch (error) {
      throw unreadable(key, error);
    }
  }

  /**
   * Returns whether the delta has an entry for the key that was set by hand and is not in the state
   * object.
   */
  #isUnapplied(key: string): boolean {
    return Object.hasOwn(this.#delta, key) && !isStamped(this.#delta, key);
  }

  #write(key: string, value: unknown): void {
    const isRemoval = value === undefined || value === REMOVED;
    // The state object first: if it refuses the write, the delta is unchanged.
    const isDone = isRemoval
      ? tryDeleteMember(this.#value, key)
      : tryDefineMember(this.#value, key, value);
    if (!isDone || !tryDefineMember(this.#delta, key, isRemoval ? REMOVED : value)) {
      throw new SessionError(
        'invalid_argument',
        `state key ${JSON.stringify(key)} cannot be written: the session's state or the delta is frozen; use a handle as the service returned it`,
        { key },
      );
    }
    stampWrite(this.#value, this.#delta, key);
  }
}

function keysOf(object: object): string[] {
  try {
    return Object.keys(object);
  } catch (error) {
    throw unreadable('state', error);
  }
}
