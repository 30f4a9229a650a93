import { requireText } from '../../values/errors/option_values.js';
import { tryDefineMember, markRaw } from '../../values/members.js';
import { SessionError } from '../../values/errors/errors.js';
import type { Content, Part } from '../../values/model/event/content.js';
import { createEventActions } from '../../values/model/event/create_event.js';
import type { EventActions } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { type ReadableState, State, watchValues } from '../../values/state/state.js';
import { carryStamp, dropStamp, isNewerWrite, isStamped } from '../../values/state/write_order.js';
import type { ArtifactService } from '../../values/model/artifact.js';
import type { RunningInvocation } from './running_invocation.js';
import { stateText } from '../../values/state/delta.js';
import type { StateSchema } from '../../values/state/state_schema.js';

/**
 * The options of a {@link ReadonlyContext}: the agent that it is for.
 */
export interface ReadonlyContextOptions {
  /** The agent's name. With {@link Context} it becomes the author of appended events. */
  agentName: string;
  /** The path of agents down to this one, `root.child`, which tells siblings apart. */
  branch?: string | undefined;
}

/**
 * The options of a {@link Context}: its agent and tool call.
 */
export interface ContextOptions extends ReadonlyContextOptions {
  /** The id of the function call that the tool responds to. */
  functionCallId?: string | undefined;
}

/** @internal */
export let makeReadonlyContext: <S extends object>(
  invocation: RunningInvocation<S>,
  options: ReadonlyContextOptions,
) => ReadonlyContext<S>;

/** @internal */
export let makeContext: <S extends object>(
  invocation: RunningInvocation<S>,
  options: ContextOptions,
) => Context<S>;

/**
 * The read-only view of an invocation, for example for an instruction function. Made by
 * `invocation.readonlyContext()`.
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
export class ReadonlyContext<S extends object = StateShape> {
  /** The name of the agent that the context is for. */
  readonly agentName: string;
  /** The path of agents down to this one: `root.child`. */
  readonly branch: string | undefined;
  /** @internal */
  protected readonly invocation: RunningInvocation<S>;
  #readonlyState: ReadonlyState<S> | undefined;

  static {
    markRaw(this.prototype);
    makeReadonlyContext = (invocation, options) => new ReadonlyContext(invocation, options);
  }

  /** Only an invocation makes contexts. */
  protected constructor(invocation: RunningInvocation<S>, options: ReadonlyContextOptions) {
    const { agentName, branch } = options;
    requireText('agentName', agentName);
    if (branch !== undefined) requireText('branch', branch);
    this.invocation = invocation;
    this.agentName = agentName;
    this.branch = branch;
  }

  /** The user's message that started the invocation. */
  get userContent(): Content | undefined {
    return this.invocation.userContent;
  }

  /** The id of the invocation. */
  get invocationId(): string {
    return this.invocation.invocationId;
  }

  /** The user of the session. */
  get userId(): string {
    return this.invocation.session.userId;
  }

  /** The id of the session. */
  get sessionId(): string {
    return this.invocation.session.id;
  }

  /**
   * The session's current state, with the `temp:` keys of this invocation. `get` returns objects as
   * frozen copies; `set`, `update` and `delete` throw.
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
   * @returns `undefined` if there is no such file
   * @throws SessionError (as a rejection) `artifact_service_missing`; `invalid_argument` after the
   *   end of the invocation; errors of the artifact service
   */
  async loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    const request = { ...this.sessionKey(), filename };
    const service = this.artifactService();
    return service.loadArtifact(version === undefined ? request : { ...request, version });
  }

  /**
   * Returns the names of this session's files.
   *
   * @throws SessionError (as a rejection) as {@link ReadonlyContext.loadArtifact}
   */
  async listArtifacts(): Promise<string[]> {
    return this.artifactService().listArtifactKeys(this.sessionKey());
  }

  /** @internal */
  protected artifactService(): ArtifactService {
    this.invocation.assertRunning();
    const service = this.invocation.artifactService;
    if (service !== undefined) return service;
    throw new SessionError(
      'artifact_service_missing',
      'this invocation has no artifact service; give it one: new Invocation({artifactService, …})',
    );
  }

  /** @internal */
  protected sessionKey(): CompositeSessionKey {
    const { appName, userId, id: sessionId } = this.invocation.session;
    return { appName, userId, sessionId };
  }
}

/** The actions that a {@link Context} has collected since its last event. */
export interface DetachedActions {
  /** The actions. Their delta is not shared with the context. */
  readonly actions: EventActions;
  /**
   * Returns the actions to the context after a failed append, except entries that were written
   * again since.
   */
  restore(): void;
}

/**
 * Moves the changes of a context to the event that carries them.
 *
 * @throws SessionError `invalid_argument` if the context belongs to another invocation
 * @internal
 */
export let detachActions: <S extends object>(
  context: Context<S>,
  invocation: RunningInvocation<S>,
) => DetachedActions;

/**
 * The context of a callback or a tool: writable state, and the actions of the next event, which
 * carries the changes. Made by `invocation.context()`; `invocation.append()` stores its changes.
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
export class Context<S extends object = StateShape> extends ReadonlyContext<S> {
  static {
    makeContext = (invocation, options) => new Context(invocation, options);
    detachActions = (context, invocation) => {
      if (#delta in context && context.invocation === invocation) return context.#detachActions();
      throw new SessionError(
        'invalid_argument',
        'the context belongs to another invocation; make one with invocation.context({agentName})',
      );
    };
  }

  /** The id of the function call that a tool responds to; `undefined` in a callback. */
  readonly functionCallId: string | undefined;
  readonly #delta: StateShape = {};
  readonly #actions: EventActions;
  readonly #state: TrackedState<S>;

  /** Only an invocation makes contexts. */
  protected constructor(invocation: RunningInvocation<S>, options: ContextOptions) {
    super(invocation, options);
    const { functionCallId } = options;
    if (functionCallId !== undefined) requireText('functionCallId', functionCallId);
    this.functionCallId = functionCallId;
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
   * The session's state. All agents of the invocation see a write at once. The next append with
   * this context stores it.
   *
   * @throws SessionError `invalid_argument` after the end of the invocation
   */
  override get state(): State<S> {
    this.invocation.assertRunning();
    return this.#state;
  }

  /**
   * The actions of the next event. Their `stateDelta` holds the writes to {@link Context.state}.
   */
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
    const request = { ...this.sessionKey(), filename, artifact, author: this.agentName };
    const version = await this.artifactService().saveArtifact(request);
    const { artifactDelta } = this.#actions;
    // Of two saves at once, the older version may be reported last.
    const isNewest = !Object.hasOwn(artifactDelta, filename) || artifactDelta[filename]! < version;
    if (isNewest) tryDefineMember(artifactDelta, filename, version);
    return version;
  }

  /** Returns a read-only context of the same agent. */
  toReadonly(): ReadonlyContext<S> {
    return makeReadonlyContext(this.invocation, this);
  }

  #detachActions(): DetachedActions {
    this.#state.recordChanges();
    watchValues(this.#state, Object.keys(this.#delta));
    const detached: EventActions = { ...this.#actions, stateDelta: {} };
    moveEntries(this.#delta, detached.stateDelta);
    // The caller has replaced the tracked delta by another object.
    if (this.#actions.stateDelta !== this.#delta) {
      moveEntries(this.#actions.stateDelta, detached.stateDelta);
    }
    // The actions object stays the same, for those who hold it.
    const emptyActions = createEventActions();
    for (const field of Object.keys(this.#actions)) {
      if (!Object.hasOwn(emptyActions, field)) Reflect.deleteProperty(this.#actions, field);
    }
    Object.assign(this.#actions, emptyActions, { stateDelta: this.#delta });
    return {
      actions: detached,
      restore: () => {
        mergeActions(this.#actions, detached);
      },
    };
  }
}

const MAP_FIELDS = ['artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'] as const;

/** Moves the entries of a delta together with their stamps. */
function moveEntries(from: StateShape, to: StateShape): void {
  for (const key of Object.keys(from)) {
    tryDefineMember(to, key, from[key]);
    carryStamp(from, to, key);
    dropStamp(from, key);
    Reflect.deleteProperty(from, key);
  }
}

/**
 * Adds to `actions` the entries of `older` that it lacks. After two failed appends, the later one
 * may give back a newer write than the earlier one did; the newer write is kept.
 *
 * An unstamped entry of `actions` with the same value as in `older` is a copy of that write and
 * gets its stamp.
 */
export function mergeActions(actions: EventActions, older: EventActions): void {
  const { stateDelta } = actions;
  for (const key of Object.keys(older.stateDelta)) {
    const value = older.stateDelta[key];
    const isNew =
      !Object.hasOwn(stateDelta, key) || isNewerWrite(older.stateDelta, stateDelta, key);
    if (isNew) tryDefineMember(stateDelta, key, value);
    else if (isStamped(stateDelta, key) || !Object.is(stateDelta[key], value)) continue;
    carryStamp(older.stateDelta, stateDelta, key);
  }
  for (const map of MAP_FIELDS) {
    if (Object.keys(older[map]).length > 0) {
      actions[map] = { ...older[map], ...actions[map] } as never;
    }
  }
  for (const [field, value] of Object.entries(older)) {
    if (!Object.hasOwn(actions, field)) tryDefineMember(actions, field, value);
  }
}

/**
 * State that can only be read. Objects are returned as frozen copies, so that nothing in them can
 * be changed.
 */
class ReadonlyState<S extends object = StateShape> extends State<S> {
  protected override assertWritable(key: string): void {
    throw new SessionError(
      'readonly',
      `state key ${JSON.stringify(key)} cannot be written: this context is read-only; write in a callback or a tool`,
      { key },
    );
  }

  /** Makes a new copy each time: a cached one would have to be compared, which costs as much. */
  protected override exposeObject(key: string, object: object): unknown {
    const json = stateText(object, [key]);
    return json === undefined ? undefined : deepFreeze(JSON.parse(json));
  }
}

/** Freezes a result of `JSON.parse`: a tree of at most 200 levels. */
function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** State whose writes go into an event. It can be written only while the invocation runs. */
class TrackedState<S extends object = StateShape> extends State<S> {
  readonly #assertRunning: () => void;

  constructor(
    value: NoInfer<Partial<S>>,
    delta: StateShape,
    schema: StateSchema | undefined,
    assertRunning: () => void,
  ) {
    super(value, delta, schema);
    this.#assertRunning = assertRunning;
  }

  /**
   * Otherwise a tool that finishes late would put `temp:` keys on a handle that the next invocation
   * uses.
   */
  protected override assertWritable(): void {
    this.#assertRunning();
  }
}
