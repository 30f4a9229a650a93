/**
 * Instruction templates: `{topic}`, `{user:name?}` and `{artifact.file}` become values.
 *
 * Rust finds the placeholders (`scanner.ts`); this folder prints the values. It knows no service.
 */
import { kindOf } from '../../values/errors/describe.js';
import { invalidValue } from '../../values/errors/invalid.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { unreadable } from '../../values/json/unreadable.js';
import { putLast } from '../../values/bounded_map.js';
import {
  type ArtifactLoader,
  type InstructionContext,
  type KeyReader,
  type LoadedArtifact,
  makeArtifactLoader,
  makeKeyReader,
} from './context.js';
import {
  escapeTemplate,
  type Placeholder,
  type PrintedPlaceholder,
  scan,
  type ScannedTemplate,
} from './scanner.js';
import { markRaw } from '../../values/members.js';
import { artifactMessage, describeMissing } from '../../core/wasm/all.js';

/**
 * An instruction with placeholders. It is parsed once and can be rendered many times.
 *
 * | written | printed |
 * |---|---|
 * | `{name}` `{ name }` | the state's `name`; an error if it is missing |
 * | `{name?}` | the same, or nothing |
 * | `{app:name}` `{user:name}` `{temp:name}` | a key of that scope |
 * | `{artifact.report.txt}` `{artifact.user:photo.png?}` | a loaded artifact |
 * | `{{name}}`, `{}`, `{"k": 1}`, `{a-b}`, `{name ?}` | as it stands |
 * | `\{name}` | `{name}` |
 * | `\\{name}` | one backslash, then the value |
 *
 * A string prints unchanged, null prints nothing, any other value prints as compact JSON.
 * Placeholders within values are not replaced.
 *
 * @example
 * ```ts
 * import { Template } from 'adk-session-wasm';
 *
 * const template = new Template('Answer {user:name} about {topic?}.');
 * template.placeholders.map(({ name }) => name); // ['user:name', 'topic']
 * await template.render({ state: { 'user:name': 'Ada', topic: 'tea' } }); // 'Answer Ada about tea.'
 * ```
 */
export class Template {
  static {
    markRaw(this.prototype);
  }

  /** The text as it was given. */
  readonly text: string;
  #scanned: ScannedTemplate | undefined;

  /**
   * @param text - The instruction. It is parsed on first use, so that modules can make templates
   *   while they are loaded.
   * @throws SessionError `invalid_argument` if `text` is not a string
   */
  constructor(text: string) {
    this.text = requireText(text);
  }

  /**
   * Returns a template that prints `text` unchanged, whatever braces and backslashes it has. So a template
   * may contain a text from elsewhere.
   *
   * The text around it must not add to its braces and backslashes: a brace of that text may form a
   * placeholder with one that stands alone in `text`. There, store `text` in the state instead: values are
   * never expanded.
   *
   * @param text - The text to print.
   * @throws SessionError `invalid_argument` if `text` is not a string
   *
   * @example
   * ```ts
   * import { injectSessionState, Template } from 'adk-session-wasm';
   *
   * const rules = 'Write {"name": {name}}.';
   * const template = `Help {user:name}. ${Template.escape(rules)}`;
   * await injectSessionState(template, { state: { 'user:name': 'Ada' } });
   * // 'Help Ada. Write {"name": {name}}.'
   * ```
   */
  static escape(text: string): string {
    return escapeTemplate(requireText(text));
  }

  /** The placeholders that are printed with a value, in order. Offsets are in UTF-16 code units. */
  get placeholders(): readonly Placeholder[] {
    return this.#scan().slots.map(({ name, isArtifact, isOptional, start, end }) => ({
      name: isArtifact ? `artifact.${name}` : name,
      kind: isArtifact ? 'artifact' : 'state',
      optional: isOptional,
      start,
      end,
    }));
  }

  /**
   * Renders the template.
   *
   * State is read at the call, so writes made while artifacts are loading do not show. All
   * artifacts are loaded concurrently, each of them once.
   *
   * @throws SessionError (as a rejection) `missing_variable`, one error for all names without a
   *   value, listed in `missing` with offsets and near misses; `artifact_service_missing`, for
   *   optional artifacts too; `storage_failed` with the `cause` if an artifact could not be loaded;
   *   `unserializable` for a `temp:` value that cannot be printed, such as a function;
   *   `invalid_argument` with the `key` and the `cause` if a getter of the context, of its state or
   *   of an artifact throws
   */
  // Not `async`: a result that is known at the call takes only one promise.
  render(context: InstructionContext): Promise<string> {
    try {
      return this.#render(context);
    } catch (error) {
      return Promise.reject(unreadable('context', error));
    }
  }

  #render(context: InstructionContext): Promise<string> {
    const reader = makeKeyReader(context);
    const read = ({ name }: PrintedPlaceholder): string | undefined => {
      try {
        const value = reader.read(name);
        return value === undefined ? undefined : printValue(value, name);
      } catch (error) {
        throw unreadable(name, error);
      }
    };
    const { slots, artifact } = this.#scan();
    if (artifact === undefined) return Promise.resolve(this.#print(read, reader));

    // Read now, because it is printed only after the artifacts are loaded.
    const state = new Map<string, string | undefined>();
    for (const slot of slots) if (!slot.isArtifact) state.set(slot.name, read(slot));
    const load = makeArtifactLoader(context);
    if (load === undefined) throw artifactServiceMissing(this.text, artifact);
    return this.#loadArtifacts(load).then((artifacts) =>
      this.#print(({ isArtifact, name }) => (isArtifact ? artifacts : state).get(name), reader),
    );
  }

  #print(printSlot: (slot: PrintedPlaceholder) => string | undefined, reader: KeyReader): string {
    const { texts, slots } = this.#scan();
    let out = texts[0] ?? '';
    let isComplete = true;
    for (let index = 0; index < slots.length; index += 1) {
      const slot = slots[index]!;
      const text = printSlot(slot);
      if (text !== undefined) out += text;
      else if (!slot.isOptional) isComplete = false;
      out += texts[index + 1] ?? '';
    }
    if (isComplete) return out;
    const missing = slots.filter((slot) => !slot.isOptional && printSlot(slot) === undefined);
    let keys: string[];
    try {
      keys = reader.keys();
    } catch (error) {
      throw unreadable('context', error);
    }
    throw missingVariableError(this.text, missing, keys);
  }

  /** Returns file name → text, without files that do not exist. */
  async #loadArtifacts(load: ArtifactLoader): Promise<Map<string, string>> {
    const loads = new Map<PrintedPlaceholder, Promise<LoadedArtifact>>();
    const names = new Set<string>();
    for (const slot of this.#scan().slots) {
      if (!slot.isArtifact || names.has(slot.name)) continue;
      names.add(slot.name);
      // `async`, so that a loader that throws counts as a failed load.
      loads.set(slot, (async () => load(slot.name))());
    }
    const artifacts = new Map<string, string>();
    const results = await Promise.allSettled(loads.values());
    [...loads.keys()].forEach((slot, index) => {
      const result = results[index]!;
      if (result.status === 'rejected') throw artifactLoadFailed(this.text, slot, result.reason);
      const part = result.value;
      if (part === undefined || part === null) return;
      const name = `artifact.${slot.name}`;
      try {
        // A service of a user may give a bare string.
        const text: unknown = typeof part === 'string' ? part : part.text;
        artifacts.set(slot.name, typeof text === 'string' ? text : printJson(part, name));
      } catch (error) {
        throw unreadable(name, error);
      }
    });
    return artifacts;
  }

  #scan(): ScannedTemplate {
    return (this.#scanned ??= scan(this.text));
  }
}

function requireText(text: string): string {
  if (typeof text !== 'string') throw invalidValue('template', 'must be a string', text);
  return text;
}

function printValue(value: unknown, name: string): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return value === null ? '' : printJson(value, name);
  }
}

/**
 * Prints a value as JSON. State values are JSON, but `temp:` values and artifacts may be anything.
 */
function printJson(value: unknown, name: string): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (json !== undefined) return json;
  throw new SessionError(
    'unserializable',
    `\`{${name}}\` cannot be printed: its value is ${kindOf(value)}, which is not JSON; store a printable value under another key`,
    { key: name, cause },
  );
}

/**
 * The most templates that {@link injectSessionState} caches, and the longest text that it caches.
 */
const MAX_CACHED = 64;
const MAX_CACHED_LENGTH = 65_536;

/** Text → its template. The least recently used one comes first. */
const cache = new Map<string, Template>();

/**
 * Returns the cached template of a text. Instructions are constants of a program, so the same few
 * come back on every turn.
 */
function cachedTemplate(text: string): Template {
  const template = cache.get(text) ?? new Template(text);
  if (text.length <= MAX_CACHED_LENGTH) putLast(cache, text, template, MAX_CACHED);
  return template;
}

/**
 * Puts state and artifacts into an instruction; see {@link Template} for the placeholders.
 *
 * @param template - The instruction. Short ones are cached, so that rendering one again costs as
 *   little as {@link Template.render}.
 * @param context - A context of an {@link Invocation}, one of `@google/adk`, or a plain
 *   `{state, loadArtifact?}`
 * @throws SessionError (as a rejection) as {@link Template.render}
 *
 * @example
 * ```ts
 * import { LlmAgent } from '@google/adk';
 * import { injectSessionState } from 'adk-session-wasm';
 *
 * const agent = new LlmAgent({
 *   name: 'guide',
 *   instruction: (context) => injectSessionState('Greet {user:name}.', context),
 * });
 * ```
 */
export function injectSessionState(template: string, context: InstructionContext): Promise<string> {
  try {
    return cachedTemplate(template).render(context);
  } catch (error) {
    const reason = error as Error;
    return Promise.reject(reason);
  }
}

// Rust makes the messages and finds the near misses (`src/core/error/template_error.rs`,
// `src/core/template/missing.rs`), so that both languages give the same text.

/** Makes one `missing_variable` error for all slots without a value. */
function missingVariableError(
  text: string,
  slots: readonly PrintedPlaceholder[],
  keys: string[],
): SessionError {
  const indices = Uint32Array.from(slots, (slot) => slot.index);
  const { message, missing } = describeMissing(text, indices, keys);
  return new SessionError('missing_variable', message, { missing });
}

/** The error for a template that names an artifact in a context without an artifact service. */
function artifactServiceMissing(text: string, slot: PrintedPlaceholder): SessionError {
  return new SessionError('artifact_service_missing', artifactMessage(text, slot.index, false), {
    key: `artifact.${slot.name}`,
  });
}

/**
 * The error for an artifact that could not be loaded. An artifact that does not exist is missing,
 * not failed.
 */
function artifactLoadFailed(text: string, slot: PrintedPlaceholder, cause: unknown): SessionError {
  // A context without an artifact service reports that only when it is called.
  if (isSessionError(cause, 'artifact_service_missing')) return artifactServiceMissing(text, slot);
  return new SessionError('storage_failed', artifactMessage(text, slot.index, true), {
    key: `artifact.${slot.name}`,
    cause,
  });
}
