/** Where a template's values come from: a context of ours, one of `@google/adk`, or a plain object. */

import { SessionError } from '../errors/errors.js';
import type { Part } from '../model/event.js';
import { REMOVED } from '../state/scope.js';
import type { StateShape } from '../state/state_shape.js';
import { peekState, State } from '../state/state.js';

/**
 * State as an object that gives a record of itself: ours, or the one of `@google/adk`.
 *
 * @example
 * ```ts
 * import { State, type StateReader } from 'adk-session-wasm';
 *
 * const reader: StateReader = new State({ topic: 'tea' });
 * ```
 */
export interface StateReader {
  toRecord(): StateShape;
}

/**
 * What a context answers when it is asked for an artifact. `undefined`: there is none.
 *
 * @example
 * ```ts
 * import type { LoadedArtifact } from 'adk-session-wasm';
 *
 * const loadArtifact = (filename: string): LoadedArtifact =>
 *   filename === 'terms.txt' ? { text: 'Be kind.' } : undefined;
 * ```
 */
export type LoadedArtifact = Part | null | undefined;

/**
 * What a template is rendered with, in its plain form. Contexts of an {@link Invocation} are of this
 * shape.
 *
 * @example
 * ```ts
 * import { injectSessionState, type TemplateContext } from 'adk-session-wasm';
 *
 * const context: TemplateContext = {
 *   state: { name: 'Ada' },
 *   loadArtifact: async (filename) => ({ text: await (await fetch(`/files/${filename}`)).text() }),
 * };
 * await injectSessionState('Hi {name}. {artifact.terms.txt}', context);
 * ```
 */
export interface TemplateContext {
  /** Key → value, prefixes included; or a `State`. Only own properties count. */
  readonly state: StateShape | StateReader;
  /** Absent: naming an artifact is an error. */
  loadArtifact?(filename: string): LoadedArtifact | Promise<LoadedArtifact>;
}

/**
 * A `ReadonlyContext` of `@google/adk`, or anything above it (`CallbackContext`, `ToolContext`): what
 * templates need of it. Its artifacts are behind the invocation, not on the context.
 *
 * @example
 * ```ts
 * import type { ReadonlyContext } from '@google/adk';
 * import { type AdkReadonlyContext, injectSessionState } from 'adk-session-wasm';
 *
 * const greet = (context: ReadonlyContext & AdkReadonlyContext) =>
 *   injectSessionState('Greet {user:name}.', context);
 * ```
 */
export interface AdkReadonlyContext {
  readonly state: StateReader;
  readonly invocationContext: {
    readonly session: { readonly id: string; readonly appName: string; readonly userId: string };
    readonly artifactService?:
      { loadArtifact(request: AdkLoadArtifactRequest): Promise<LoadedArtifact> } | undefined;
  };
}

/** Suits the service that is bound to a session, which newer ADKs have, and the unbound one. */
export interface AdkLoadArtifactRequest {
  appName: string;
  userId: string;
  sessionId: string;
  filename: string;
}

/**
 * Everything that a template can be rendered with.
 *
 * @example
 * ```ts
 * import type { InstructionContext } from 'adk-session-wasm';
 *
 * const contexts: InstructionContext[] = [{ state: { topic: 'tea' } }];
 * ```
 */
export type InstructionContext = TemplateContext | AdkReadonlyContext;

/** The state of a context, as rendering needs it. */
export interface KeyReader {
  /** `undefined`: there is no such key. */
  read(key: string): unknown;
  /** Asked for only when something is missing. */
  keys(): string[];
}

export type ArtifactLoader = (filename: string) => LoadedArtifact | Promise<LoadedArtifact>;

/** @throws SessionError `invalid_argument` for what is no context */
export function readerOf(context: InstructionContext): KeyReader {
  const state = (context as Partial<InstructionContext> | null | undefined)?.state;
  if (typeof state !== 'object' || state === null) {
    throw new SessionError(
      'invalid_argument',
      'an instruction needs a context with a state: {state, loadArtifact?}',
      { key: 'context' },
    );
  }
  if (state instanceof State) {
    const ours = state as State;
    return { read: (key) => peekState(ours, key), keys: () => ours.keys() };
  }
  // The ADK's own look-up sees inherited names such as `toString`, so its record is taken. A key of
  // that name in a plain record cannot hold a function: state values are JSON.
  const isReader = typeof state.toRecord === 'function';
  return recordReader(isReader ? (state as StateReader).toRecord() : (state as StateShape));
}

function recordReader(record: StateShape): KeyReader {
  return {
    read(key) {
      const value = Object.hasOwn(record, key) ? record[key] : undefined;
      return value === REMOVED ? undefined : value;
    },
    keys: () => Object.keys(record),
  };
}

/** `undefined`: there is no artifact service. */
export function loaderOf(context: InstructionContext): ArtifactLoader | undefined {
  if (!('invocationContext' in context)) {
    return context.loadArtifact && ((filename) => context.loadArtifact?.(filename));
  }
  const { artifactService: service, session } = context.invocationContext;
  if (service === undefined) return undefined;
  const { appName, userId, id: sessionId } = session;
  return (filename) => service.loadArtifact({ appName, userId, sessionId, filename });
}
