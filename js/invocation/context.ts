import { SessionError } from '../errors/errors.js';
import { type Content, createEventActions, type EventActions, type Part } from '../model/event.js';
import type { CompositeSessionKey } from '../model/session.js';
import type { StateShape } from '../state/state_shape.js';
import { define, type ReadableState, type State, watchValues } from '../state/state.js';
import { carryStamp, dropStamp, isNewerWrite, isStamped } from '../state/write_order.js';
import type { ArtifactService } from './artifact_service.js';
import { ReadonlyState, TrackedState } from './context_state.js';
import type { RunningInvocation } from './running_invocation.js';

/**
 * Which agent a {@link ReadonlyContext} is for.
 *
 * @example
 * ```ts
 * import type { ReadonlyContextOptions } from 'adk-session-wasm';
 *
 * const options: ReadonlyContextOptions = { agentName: 'guide', branch: 'root.guide' };
 * ```
 */
export interface ReadonlyContextOptions {
  /** The author of what it appends. */
  agentName: string;
  /** The agents down to this one, `root.child`, so that peers can be told apart. */
  branch?: string | undefined;
}

/**
 * Which agent, and which tool call, a {@link Context} is for.
 *
 * @example
 * ```ts
 * import type { ContextOptions } from 'adk-session-wasm';
 *
 * const options: ContextOptions = { agentName: 'guide', functionCallId: 'call-1' };
 * ```
 */
export interface ContextOptions extends ReadonlyContextOptions {
  /** The id of the function call that a tool answers. */
  functionCallId?: string | undefined;
}

/**
 * What an agent sees of its invocation where it may not change anything: in an instruction function,
 * for one. Made by `invocation.readonlyContext()`.
 *
 * @example
 * ```ts
 * import { type Invocation, type ReadonlyContext, resolveInstruction } from 'adk-session-wasm';
 *
 * const greet = ({ state }: ReadonlyContext) => `Greet ${state.get('user:name', 'the user')}.`;
 *
 * async function greeting(invocation: Invocation): Promise<string> {
 *   return resolveInstruction(greet, invocation.readonlyContext({ agentName: 'guide' }));
 * }
 * ```
 */
export class ReadonlyContext<S extends StateShape = StateShape> {
  /** Which agent it is for. */
  readonly agentName: string;
  /** The agents down to this one: `root.child`. */
  readonly branch: string | undefined;
  protected readonly invocation: RunningInvocation<S>;
  #readonlyState: ReadonlyState<S> | undefined;

  /** @internal */
  constructor(invocation: RunningInvocation<S>, options: ReadonlyContextOptions) {
    this.invocation = invocation;
    this.agentName = options.agentName;
    this.branch = options.branch;
  }

  /** What the user said to start the invocation. */
  get userContent(): Content | undefined {
    return this.invocation.userContent;
  }

  get invocationId(): string {
    return this.invocation.invocationId;
  }

  get userId(): string {
    return this.invocation.session.userId;
  }

  get sessionId(): string {
    return this.invocation.session.id;
  }

  /**
   * The session's state as it is now, `temp:` keys of this invocation included. `get` returns objects
   * as frozen copies; `set`, `update` and `delete` throw.
   *
   * @throws SessionError `readonly` on a write; `invalid_argument` after the end of the invocation
   */
  get state(): ReadableState<S> {
    this.invocation.assertRunning();
    return (this.#readonlyState ??= new ReadonlyState<S>(this.invocation.session.state));
  }

  /**
   * Loads a file of this session.
   *
   * @param version - From 0. Default: the newest.
   * @returns `undefined` if there is none of that name
   * @throws SessionError (as a rejection) `artifact_service_missing`, `invalid_argument` after the end
   * of the invocation; what the service throws
   */
  async loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    const request = { ...this.sessionKey(), filename };
    const service = this.artifactService();
    return service.loadArtifact(version === undefined ? request : { ...request, version });
  }

  /**
   * The names of this session's files.
   *
   * @throws SessionError (as a rejection) as {@link ReadonlyContext.loadArtifact}
   */
  async listArtifacts(): Promise<string[]> {
    return this.artifactService().listArtifactKeys(this.sessionKey());
  }

  protected artifactService(): ArtifactService {
    this.invocation.assertRunning();
    const service = this.invocation.artifactService;
    if (service !== undefined) return service;
    throw new SessionError(
      'artifact_service_missing',
      'this invocation has no artifact service; give it one: new Invocation({artifactService, …})',
    );
  }

  protected sessionKey(): CompositeSessionKey {
    const { appName, userId, id: sessionId } = this.invocation.session;
    return { appName, userId, sessionId };
  }
}

/** What {@link Context} has collected since its last event. */
export interface TakenActions {
  /** The actions, with deltas of their own. */
  readonly actions: EventActions;
  /** Puts back what nobody has written anew: the event could not be stored. */
  giveBack(): void;
}

/**
 * Empties a context into the event that is to carry its changes.
 *
 * @throws SessionError `invalid_argument` if it is no context of this invocation
 * @internal
 */
export let takeActions: <S extends StateShape>(
  context: Context<S>,
  invocation: RunningInvocation<S>,
) => TakenActions;

/**
 * What a callback or a tool works with: state that it may write, and the actions of the event that
 * will carry what it wrote. Made by `invocation.context()`; `invocation.append()` stores it.
 *
 * It is also exported as `CallbackContext` and `ToolContext`, the names in the ADK's documents.
 *
 * @example
 * ```ts
 * import type { Invocation } from 'adk-session-wasm';
 *
 * async function chooseCity(invocation: Invocation, id: string, city: string) {
 *   const context = invocation.context({ agentName: 'shop', functionCallId: id });
 *   context.state.set('user:city', city);
 *   context.actions.skipSummarization = true;
 *   const functionResponse = { id, name: 'chooseCity', response: { city } };
 *   const content = { role: 'user', parts: [{ functionResponse }] };
 *   await invocation.append({ content }, { context });
 * }
 * ```
 */
export class Context<S extends StateShape = StateShape> extends ReadonlyContext<S> {
  static {
    takeActions = (context, invocation) => {
      if (#delta in context && context.invocation === invocation) return context.#take();
      throw new SessionError(
        'invalid_argument',
        'the context is none of this invocation: take one of invocation.context({agentName})',
      );
    };
  }

  /** The id of the function call that a tool answers; `undefined` in a callback. */
  readonly functionCallId: string | undefined;
  readonly #delta: StateShape = {};
  readonly #actions: EventActions;
  readonly #state: TrackedState<S>;

  /** @internal */
  constructor(invocation: RunningInvocation<S>, options: ContextOptions) {
    super(invocation, options);
    this.functionCallId = options.functionCallId;
    this.#actions = createEventActions();
    this.#actions.stateDelta = this.#delta;
    this.#state = new TrackedState<S>(
      invocation.session.state,
      this.#delta,
      invocation.stateSchema,
      () => invocation.assertRunning(),
    );
  }

  /**
   * The session's state. Writes are seen at once by all agents of the invocation, and are stored by
   * the next append with this context.
   *
   * @throws SessionError `invalid_argument` after the end of the invocation
   */
  override get state(): State<S> {
    this.invocation.assertRunning();
    return this.#state;
  }

  /** The actions of the next event; their `stateDelta` holds what was written to {@link Context.state}. */
  get actions(): EventActions {
    this.#state.recordChanges();
    return this.#actions;
  }

  /**
   * Saves a file of this session, and notes its version in the actions of the next event.
   *
   * @returns the version, from 0
   * @throws SessionError (as a rejection) as {@link ReadonlyContext.loadArtifact}
   */
  async saveArtifact(filename: string, artifact: Part): Promise<number> {
    const request = { ...this.sessionKey(), filename, artifact };
    const version = await this.artifactService().saveArtifact(request);
    define(this.#actions.artifactDelta, filename, version);
    return version;
  }

  /** The same agent's context for code that may only read. */
  toReadonly(): ReadonlyContext<S> {
    return new ReadonlyContext(this.invocation, this);
  }

  #take(): TakenActions {
    this.#state.recordChanges();
    watchValues(this.#state, Object.keys(this.#delta));
    const taken: EventActions = { ...this.#actions, stateDelta: {} };
    moveEntries(this.#delta, taken.stateDelta);
    // Somebody put an object of their own in the place of the tracked one.
    if (this.#actions.stateDelta !== this.#delta) {
      moveEntries(this.#actions.stateDelta, taken.stateDelta);
    }
    // The object stays the same, for those who hold it.
    const empty = createEventActions();
    for (const field of Object.keys(this.#actions)) {
      if (!Object.hasOwn(empty, field)) Reflect.deleteProperty(this.#actions, field);
    }
    Object.assign(this.#actions, empty, { stateDelta: this.#delta });
    return {
      actions: taken,
      giveBack: () => {
        mergeActions(this.#actions, taken);
      },
    };
  }
}

const MAPS = ['artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'] as const;

/** Moves the entries of a delta, and their places in the order of writes. */
function moveEntries(from: StateShape, to: StateShape): void {
  for (const key of Object.keys(from)) {
    define(to, key, from[key]);
    carryStamp(from, to, key);
    dropStamp(from, key);
    Reflect.deleteProperty(from, key);
  }
}

/**
 * Adds to `actions` what `older` has and they have not. An entry of `actions` that repeats a write of
 * `older` (a copy of its delta) keeps that write's place in the order. Where two appends failed, the
 * later one may give back a newer write than the earlier one did.
 */
export function mergeActions(actions: EventActions, older: EventActions): void {
  const { stateDelta } = actions;
  for (const key of Object.keys(older.stateDelta)) {
    const value = older.stateDelta[key];
    const isNew =
      !Object.hasOwn(stateDelta, key) || isNewerWrite(older.stateDelta, stateDelta, key);
    if (isNew) define(stateDelta, key, value);
    else if (isStamped(stateDelta, key) || !Object.is(stateDelta[key], value)) continue;
    carryStamp(older.stateDelta, stateDelta, key);
  }
  for (const map of MAPS) {
    if (Object.keys(older[map]).length > 0) {
      actions[map] = { ...older[map], ...actions[map] } as never;
    }
  }
  for (const [field, value] of Object.entries(older)) {
    if (!Object.hasOwn(actions, field)) define(actions, field, value);
  }
}
