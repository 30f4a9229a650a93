/**
 * The JSON writer: turns a value into JSON text by our rules, or reports where the value breaks
 * them.
 *
 * Unlike `JSON.stringify` it gives paths in its errors, limits the depth and uses a stack of its
 * own. It reads each member once, so a getter that returns another value later cannot make the text
 * differ from what was checked. It is some ten times slower than the native function, so it writes
 * only what `check.ts` calls special.
 */
import { kindOf, reasonOf } from '../errors/describe.js';
import type { SessionError } from '../errors/errors.js';
import { unbox } from '../members.js';
import {
  formatPath,
  type PathSegment,
  isPlainObject,
  MAX_EVENT_LEVELS,
  MAX_STATE_LEVELS,
  MAX_VALUES,
  unserializable,
} from './rules.js';
import { isWellFormed, replaceLoneSurrogates } from './text.js';
import { isTooLong, tooLongError } from './unreadable.js';

/** A member whose JSON text is known. The text is written instead of the member's value. */
export interface RawMember {
  readonly holder: object;
  readonly key: string;
  readonly text: string;
}

/** The rules to write by, and the place of the value. */
export interface WriteOptions {
  readonly rules: 'state' | 'event';
  /** The path of the value, for errors and for the key that `toJSON` gets. Default: empty. */
  readonly path?: readonly PathSegment[];
  readonly raw?: RawMember;
}

/** An object or array that is being written. */
interface Frame {
  readonly node: Record<PropertyKey, unknown>;
  /** Its key or index in the parent frame. */
  readonly segment: PathSegment;
  /** `undefined` for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  next: number;
  /** Whether a member was written already, so that the next one needs a comma. */
  hasMembers: boolean;
}

/**
 * Pieces are joined in batches of this size. Millions of single concatenations would make a tree
 * that takes 30 bytes for each.
 */
const MAX_PIECES = 8192;

/**
 * Writes `value` as JSON text.
 *
 * `toJSON` is called as by `JSON.stringify`, also on functions, and its result must follow the same
 * rules. A BigInt is refused even if `BigInt.prototype` has a `toJSON`. Otherwise the stored data
 * would depend on a patch elsewhere in the program.
 *
 * @returns `undefined` as `JSON.stringify` does: by the event rules, for undefined, a function or a
 *   symbol
 * @throws SessionError `unserializable` with `path`, and with `cause` if a getter, `toJSON` or
 *   proxy handler threw
 */
export function writeJson(value: unknown, options: WriteOptions): string | undefined {
  return new Writer(options).write(value);
}

class Writer {
  readonly #strict: boolean;
  readonly #limit: number;
  readonly #path: readonly PathSegment[];
  readonly #raw: RawMember | undefined;
  readonly #frames: Frame[] = [];
  readonly #chunks: string[] = [];
  #pieces: string[] = [];
  /** The member that is being read, for the path; `undefined` between members. */
  #member: PathSegment | undefined;
  #count = 0;
  /** Our own error, to tell it from errors that the value's own code throws. */
  #refusal: SessionError | undefined;

  constructor({ rules, path = [], raw }: WriteOptions) {
    this.#strict = rules === 'state';
    this.#limit = this.#strict ? MAX_STATE_LEVELS : MAX_EVENT_LEVELS;
    this.#path = path;
    this.#raw = raw;
  }

  write(value: unknown): string | undefined {
    try {
      const last = this.#path[this.#path.length - 1] ?? '';
      if (!this.#writeValue(value, last, '', false)) return undefined;
      for (let frame = this.#top(); frame !== undefined; frame = this.#top())
        this.#writeNext(frame);
      this.#chunks.push(this.#pieces.join(''));
      return this.#chunks.join('');
    } catch (error) {
      if (error === this.#refusal) throw error;
      if (isTooLong(error)) throw tooLongError(undefined, error);
      // The value's own code threw.
      throw unserializable(
        this.#currentPath(),
        `cannot be converted to JSON: ${reasonOf(error)}`,
        error,
      );
    }
  }

  #top(): Frame | undefined {
    return this.#frames[this.#frames.length - 1];
  }

  /** Writes the next member of `frame`, or its closing bracket. */
  #writeNext(frame: Frame): void {
    if (frame.next === frame.length) {
      this.#append(frame.keys === undefined ? ']' : '}');
      this.#frames.pop();
      this.#member = undefined;
      return;
    }
    const index = frame.next++;
    const comma = frame.hasMembers ? ',' : '';
    if (frame.keys === undefined) {
      this.#member = index;
      this.#writeValue(frame.node[index], index, comma, true);
      frame.hasMembers = true;
      return;
    }
    const key = frame.keys[index] ?? '';
    this.#member = key;
    const prefix = `${comma}${this.#quote(key, 'key')}:`;
    const raw = this.#raw;
    if (raw?.holder === frame.node && raw.key === key) {
      this.#append(prefix + raw.text);
      frame.hasMembers = true;
    } else if (this.#writeValue(frame.node[key], key, prefix, false)) {
      frame.hasMembers = true;
    }
  }

  /**
   * Writes `lead` and the value, or opens a frame for it.
   *
   * @returns whether anything was written; always true for an array element
   */
  #writeValue(given: unknown, segment: PathSegment, prefix: string, isElement: boolean): boolean {
    const value = this.#toPrintable(given, segment);
    switch (typeof value) {
      case 'string':
        this.#append(prefix + this.#quote(value, 'string'));
        return true;
      case 'number':
        if (Number.isFinite(value)) this.#append(prefix + String(value));
        else if (this.#strict) this.#refuse(`is ${value}, which JSON does not have; use null`);
        else this.#append(`${prefix}null`);
        return true;
      case 'boolean':
        this.#append(prefix + String(value));
        return true;
      case 'bigint':
        return this.#refuse('is a BigInt, which JSON does not have; store it as a string');
      case 'object':
        if (value === null) this.#append(`${prefix}null`);
        else this.#openFrame(value, segment, prefix);
        return true;
      default:
        if (this.#strict && value !== undefined) {
          this.#refuse(`is a ${typeof value}, which JSON does not have; leave it out`);
        }
        if (isElement) this.#append(`${prefix}null`);
        return isElement;
    }
  }

  /**
   * Returns the value that JSON prints for `value`: the result of its `toJSON`, or the content of a
   * boxed primitive.
   */
  #toPrintable(value: unknown, segment: PathSegment): unknown {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
    const { toJSON } = value as { toJSON?: unknown };
    const result: unknown =
      typeof toJSON === 'function' ? Reflect.apply(toJSON, value, [String(segment)]) : value;
    // The state rules refuse boxed primitives like all class instances: `new Number(1)` is hardly
    // intended.
    return this.#strict ? result : unbox(result);
  }

  #openFrame(value: object, segment: PathSegment, prefix: string): void {
    const frames = this.#frames;
    for (const frame of frames) {
      if (frame.node === value) {
        const target = this.#pathTo(frame);
        this.#refuse(
          `is a cycle: it refers back to ${target === '' ? 'the value itself' : target}`,
        );
      }
    }
    if (frames.length >= this.#limit) {
      this.#refuse(
        `nests deeper than ${this.#limit} levels; use fewer levels, or store it as a string`,
      );
    }
    const isArray = Array.isArray(value);
    if (this.#strict && !isArray && !isPlainObject(value)) {
      this.#refuse(
        `is ${kindOf(value)}, which JSON does not have; store a plain object, or give it a toJSON`,
      );
    }
    const node = value as Record<PropertyKey, unknown>;
    // Checked before `Object.keys`, which would make a string for every index.
    const size = isArray || ArrayBuffer.isView(value) ? arrayLength(node.length) : 0;
    if (size <= MAX_VALUES) {
      const keys = isArray ? undefined : Object.keys(value);
      const length = keys?.length ?? size;
      this.#count += length;
      this.#append(prefix + (isArray ? '[' : '{'));
      frames.push({ node, segment, keys, length, next: 0, hasMembers: false });
      this.#member = undefined;
    }
    if (size > MAX_VALUES || this.#count > MAX_VALUES) this.#refuse(tooLargeProblem);
  }

  #quote(text: string, role: 'key' | 'string'): string {
    if (!this.#strict) return replaceLoneSurrogates(JSON.stringify(text));
    if (!isWellFormed(text)) {
      const problem = role === 'key' ? 'is a key with half of a' : 'is a string with half of a';
      this.#refuse(`${problem} surrogate pair; cut texts between characters (toWellFormed())`);
    }
    return JSON.stringify(text);
  }

  #append(piece: string): void {
    if (this.#pieces.push(piece) < MAX_PIECES) return;
    this.#chunks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  #refuse(problem: string): never {
    this.#refusal = unserializable(this.#currentPath(), problem);
    throw this.#refusal;
  }

  /** Returns the path of the value that is being read. */
  #currentPath(): PathSegment[] {
    // The outermost frame is the value itself; `#path` already leads to it.
    const path = [...this.#path, ...this.#frames.slice(1).map(({ segment }) => segment)];
    if (this.#member !== undefined) path.push(this.#member);
    return path;
  }

  #pathTo(target: Frame): string {
    const frames = this.#frames.slice(1, this.#frames.indexOf(target) + 1);
    return formatPath([...this.#path, ...frames.map(({ segment }) => segment)]);
  }
}

/** The rest of the error message for more than {@link MAX_VALUES} values. */
export const tooLargeProblem =
  `holds more than ${MAX_VALUES} values, where objects referenced twice count twice; ` +
  'store it in parts, or as an artifact';

/** Converts a length as `JSON.stringify` does. A proxy of an array may return anything. */
function arrayLength(length: unknown): number {
  return Math.max(0, Math.trunc(Number(length)) || 0);
}
