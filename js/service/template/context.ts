/** The source of a template's values: a context of ours, one of `@google/adk`, or a plain object. */

import { SessionError } from '../../values/errors/errors.js';
import type { Part } from '../../values/model/event/content.js';
import { REMOVED } from '../../values/state/scope.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { peekState, State } from '../../values/state/state.js';

/** A state that can be read as a record: our `State`, or the one of `@google/adk`. */
export interface StateReader {
  /** Returns all keys, with their prefixes, and values. */
  toRecord(): StateShape;
}

/** The result of loading an artifact. `undefined` or `null`: it does not exist. */
export type LoadedArtifact = Part | null | undefined;

/**
 * The plain form of the context that a template is rendered with. Contexts of an {@link Invocation}
 * have this shape.
 */
export interface TemplateContext {
  /** Key → value, prefixes included; or a `State`. Only own properties count. */
  readonly state: StateShape | StateReader;
  /** Loads an artifact. Without this method, a template that names an artifact fails. */
  loadArtifact?(filename: string): LoadedArtifact | Promise<LoadedArtifact>;
}

/**
 * The members of `@google/adk`'s `ReadonlyContext` (and so of `CallbackContext` and `ToolContext`)
 * that templates use. Artifacts are loaded through the invocation, since the context itself cannot
 * load them.
 */
export interface AdkReadonlyContext {
  /** The state to print from. */
  readonly state: StateReader;
  /** Where artifacts are loaded from. */
  readonly invocationContext: {
    /** The session whose artifacts are loaded. */
    readonly session: {
      /** The id of the session. */
      readonly id: string;
      /** The app of the session. */
      readonly appName: string;
      /** The user of the session. */
      readonly userId: string;
    };
    /** The storage of artifacts, if there is one. */
    readonly artifactService?:
      | {
          /** Loads the newest version of a file. */
          loadArtifact(request: AdkLoadArtifactRequest): Promise<LoadedArtifact>;
        }
      | undefined;
  };
}

/** Fits both the artifact service bound to a session, in newer ADKs, and the unbound one. */
export interface AdkLoadArtifactRequest {
  /** The app of the session. */
  appName: string;
  /** The user of the session. */
  userId: string;
  /** The id of the session. */
  sessionId: string;
  /** The name of the file. */
  filename: string;
}

/** Any context that a template can be rendered with. */
export type InstructionContext = TemplateContext | AdkReadonlyContext;

/** Reads the state of a context while rendering. */
export interface KeyReader {
  /** Returns the value of a key; `undefined` if there is none. */
  read(key: string): unknown;
  /** Called only if a value is missing. */
  keys(): string[];
}

export type ArtifactLoader = (filename: string) => LoadedArtifact | Promise<LoadedArtifact>;

/** @throws SessionError `invalid_argument` if `context` has no state */
export function makeKeyReader(context: InstructionContext): KeyReader {
  const state = (context as Partial<InstructionContext> | null | undefined)?.state;
  if (typeof state !== 'object' || state === null) {
    throw new SessionError(
      'invalid_argument',
      'an instruction needs a context with a state: {state, loadArtifact?}',
      { key: 'context' },
    );
  }
  if (state instanceof State) {
    const ownState = state as State;
    return { read: (key) => peekState(ownState, key), keys: () => ownState.keys() };
  }
  // The ADK's own look-up also finds inherited names such as `toString`, so its record is read
  // instead. A plain record cannot hold a function under such a name: state values are JSON.
  const isStateReader = typeof state.toRecord === 'function';
  return recordReader(isStateReader ? (state as StateReader).toRecord() : (state as StateShape));
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

/** Returns the loader of a context's artifacts; `undefined` if there is no artifact service. */
export function makeArtifactLoader(context: InstructionContext): ArtifactLoader | undefined {
  if (!('invocationContext' in context)) {
    return context.loadArtifact && ((filename) => context.loadArtifact?.(filename));
  }
  const { artifactService: service, session } = context.invocationContext;
  if (service === undefined) return undefined;
  const { appName, userId, id: sessionId } = session;
  return (filename) => service.loadArtifact({ appName, userId, sessionId, filename });
}
