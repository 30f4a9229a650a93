/**
 * Invocations: one run of an agent's own code, whose changes of the state are stored as deltas of its events.
 *
 * For agents without a `Runner` of the ADK, which has invocations of its own. The folder knows no store.
 */
import { tryDefineMember, markRaw } from '../../values/members.js';
import { invalid } from '../../values/errors/invalid.js';
import { SessionError } from '../../values/errors/errors.js';
import type { Content } from '../../values/model/event/content.js';
import {
  type CreateEventParams,
  createEventActions,
  newEventId,
} from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import { finalResponseText } from '../../values/model/event/final_response.js';
import { takeContent } from '../../values/model/event/parts.js';
import { plainObjectKeys } from '../../values/state/delta.js';
import { isTemp } from '../../values/state/scope.js';
import { requireSession } from '../../core/handle/handle.js';
import { unreadable } from '../../values/json/unreadable.js';
import type { HostAbortSignal } from '../../values/model/host.js';
import type { AppendEventRequest, Session } from '../../values/model/session.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { takeOptions } from '../../core/call/call.js';
import { requireObject, requireText } from '../../values/errors/option_values.js';
import { requireService } from '../../core/call/given_service.js';
import {
  optionalStateSchema,
  type StateSchema,
  validateDelta,
} from '../../values/state/state_schema.js';
import { carryStamps, dropStamp } from '../../values/state/write_order.js';
import type { ArtifactService } from '../../values/model/artifact.js';
import type { RunningInvocation } from './running_invocation.js';
import {
  type Context,
  type ContextOptions,
  detachActions,
  makeContext,
  makeReadonlyContext,
  mergeActions,
  type ReadonlyContext,
  type ReadonlyContextOptions,
} from './context.js';

/**
 * The options of an {@link Invocation}.
 */
export interface InvocationOptions<S extends object = StateShape> {
  /** The service that stores the invocation's events. */
  service: {
    /** See {@link SessionService.appendEvent}. */
    appendEvent(request: AppendEventRequest<NoInfer<S>, Event>): Promise<Event>;
  };
  /**
   * The handle, as the service returned it. The invocation changes it. Use a handle for one
   * invocation at a time.
   */
  session: Session<S>;
  /** Default (also for `''`): `e-` and a UUID. */
  invocationId?: string | undefined;
  /** The user's message that starts the invocation. Append it yourself, as the first event. */
  userContent?: Content | string | undefined;
  /** Without it, the artifact methods of contexts reject with `artifact_service_missing`. */
  artifactService?: ArtifactService | undefined;
  /** Checks the writes of contexts and the deltas of appended events. */
  stateSchema?: StateSchema | undefined;
}

/**
 * The options of {@link Invocation.append}.
 */
export interface AppendOptions<S extends object = StateShape> {
  /** The context whose changes move into the event. */
  context?: Context<S> | undefined;
  /** The state key for the text of a final response. */
  outputKey?: string | undefined;
  /** Aborts the append with `aborted`, if it fires before the commit began. */
  signal?: HostAbortSignal | undefined;
}

/**
 * One run on one session, from a user's message to the final answer, for programs without an ADK.
 * It makes the contexts of the agents, callbacks and tools that take part, and stores their events.
 * All of them share the `temp:` state until {@link Invocation.end}.
 *
 * Agents that run in parallel write to the same state. The later write of a key wins, in whatever
 * order their events are appended.
 *
 * @example
 * ```ts
 * import { InMemorySessionService, injectSessionState, Invocation } from 'adk-session-wasm';
 *
 * const service = new InMemorySessionService();
 * const session = await service.createSession({ appName: 'shop', userId: 'ada' });
 * const userContent = { role: 'user', parts: [{ text: 'Hello!' }] };
 *
 * const invocation = new Invocation({ service, session, userContent });
 * await invocation.append({ author: 'user', content: userContent });
 * const context = invocation.context({ agentName: 'guide' });
 * const instruction = await injectSessionState('Greet {user:name?}.', context);
 * context.state.set('turns', context.state.get('turns', 0) + 1);
 * const content = { role: 'model', parts: [{ text: `(what a model says to: ${instruction})` }] };
 * await invocation.append({ content }, { context, outputKey: 'answer' });
 * invocation.end();
 * ```
 */
export class Invocation<S extends object = StateShape> {
  static {
    markRaw(this.prototype);
  }

  /** The service that stores the invocation's events. */
  readonly service: InvocationOptions<S>['service'];
  /** The handle that the invocation appends through. */
  readonly session: Session<S>;
  /** The id that all events of the invocation have. */
  readonly invocationId: string;
  /** The user's message that starts the invocation. */
  readonly userContent: Content | undefined;
  /** The storage of files, if there is one. */
  readonly artifactService: ArtifactService | undefined;
  /** Checks what the contexts write, if there is one. */
  readonly stateSchema: StateSchema | undefined;
  readonly #running: RunningInvocation<S>;
  #hasEnded = false;

  /** @throws SessionError `invalid_argument` if an option is wrong, or if there is no service */
  constructor(given: InvocationOptions<S>) {
    const options = takeOptions(given);
    requireService(options.service, ['appendEvent']);
    requireSession(options.session);
    if (options.invocationId !== undefined) requireText('invocationId', options.invocationId);
    this.service = options.service;
    this.session = options.session;
    const invocationId = options.invocationId ?? '';
    this.invocationId = invocationId === '' ? `e-${newEventId()}` : invocationId;
    const { userContent } = options;
    this.userContent =
      userContent === undefined ? undefined : takeContent(userContent, 'user', 'userContent');
    this.artifactService = options.artifactService;
    this.stateSchema = optionalStateSchema(options.stateSchema);
    this.#running = { ...this, assertRunning: () => this.#assertRunning() };
  }

  /**
   * Makes a read-only context, for an instruction.
   *
   * @throws SessionError `invalid_argument` after the end, or if an option is wrong
   */
  readonlyContext(options: ReadonlyContextOptions): ReadonlyContext<S> {
    this.#assertRunning();
    return makeReadonlyContext(this.#running, takeOptions(options));
  }

  /**
   * Makes a context for a callback or a tool. Each context collects its own changes.
   *
   * @throws SessionError `invalid_argument` after the end, or if an option is wrong
   */
  context(options: ContextOptions): Context<S> {
    this.#assertRunning();
    return makeContext(this.#running, takeOptions(options));
  }

  /**
   * Completes an event and stores it. Missing fields are filled in: `id`, `invocationId`, `author`
   * (the context's agent, else `'user'`), `branch` and `timestamp` (now). A text as `content` becomes one part.
   *
   * The context's changes move into the event. If the event has the same key, the event's value
   * wins. They are taken at the call: later writes of the context belong to its next event. If the
   * append fails, the changes return to the context, so that a retry carries them.
   *
   * With `outputKey`, the text of a final response is written to the state under that key: its text
   * parts joined, without thoughts. Partial events and events without text write nothing.
   *
   * A partial event is completed and returned; nothing is stored or taken from the context.
   *
   * @param event - Any fields, also of your own. Changed as by `appendEvent`.
   * @returns the same object; a copy, if it has a `then`
   * @throws SessionError (as a rejection) `invalid_argument` after the end, for a
   *   frozen event or a context of another invocation; `schema_violation`; errors as `appendEvent`
   */
  async append<E extends CreateEventParams>(
    event: E,
    options: AppendOptions<S> = {},
  ): Promise<Event & Omit<E, keyof Event>> {
    this.#assertRunning();
    const { context, outputKey, signal } = takeOptions(options);
    if (context !== undefined) requireObject('context', context);
    if (outputKey !== undefined) requireText('outputKey', outputKey);
    requireObject('event', event);
    const { complete, undo } = this.#prepare(event, context, outputKey);
    if (complete.partial === true) return complete;
    // The append replaces `actions.stateDelta`, and leaves this object as it is.
    const { stateDelta } = complete.actions;
    try {
      await this.service.appendEvent({ session: this.session, event: complete, signal });
      if (this.#hasEnded) this.#dropTemp(stateDelta);
      return complete;
    } catch (error) {
      undo();
      throw error;
    }
  }

  /**
   * Ends the invocation: removes the `temp:` keys from the session's state, and makes its contexts
   * unusable. Appends that are under way are still stored. A second call does nothing.
   */
  end(): void {
    this.#hasEnded = true;
    this.#dropTemp();
  }

  #assertRunning(): void {
    if (!this.#hasEnded) return;
    throw new SessionError(
      'invalid_argument',
      `invocation ${this.invocationId} has ended; begin another one for the next message`,
    );
  }

  /**
   * Completes an event, and moves the context's changes into it, unless it is partial.
   *
   * @returns the same object, and a function that returns the changes after a failed append
   * @throws SessionError as {@link Invocation.append}; the changes are then returned
   */
  #prepare<E extends CreateEventParams>(
    event: E,
    context: Context<S> | undefined,
    outputKey: string | undefined,
  ): { complete: Event & Omit<E, keyof Event>; undo: () => void } {
    let undo = (): void => undefined;
    try {
      if (event.partial === true) return { complete: this.#complete(event, context), undo };
      const callerActions = event.actions;
      const detached = context === undefined ? undefined : detachActions(context, this.#running);
      undo = () => {
        if (callerActions === undefined) Reflect.deleteProperty(event, 'actions');
        else tryDefineMember(event, 'actions', callerActions);
        detached?.restore();
      };
      const complete = this.#complete(event, context);
      // New actions, because the caller's may be the context's own or shared by several events.
      const actions = createEventActions(callerActions);
      if (callerActions?.stateDelta !== undefined) {
        // A copy of a Map or an array would silently lose its content.
        plainObjectKeys(callerActions.stateDelta, 'event.actions.stateDelta');
        carryStamps(callerActions.stateDelta, actions.stateDelta);
      }
      if (detached !== undefined) mergeActions(actions, detached.actions);
      if (outputKey !== undefined) {
        const output = finalResponseText({ ...complete, actions });
        if (output !== undefined) {
          tryDefineMember(actions.stateDelta, outputKey, output);
          // The output counts as written now, whenever the context wrote that key.
          dropStamp(actions.stateDelta, outputKey);
        }
      }
      if (this.stateSchema !== undefined) validateDelta(this.stateSchema, actions.stateDelta);
      requireSet(complete, 'actions', actions);
      return { complete, undo };
    } catch (error) {
      undo();
      throw unreadable('event', error);
    }
  }

  /**
   * Fills in the event's missing fields. They stay when the append fails, so that a retry is the
   * same event.
   */
  #complete<E extends CreateEventParams>(
    event: E,
    context: Context<S> | undefined,
  ): Event & Omit<E, keyof Event> {
    const fillField = (field: keyof CreateEventParams, value: unknown): void => {
      const current = event[field];
      if ((current === undefined || current === '') && value !== undefined)
        requireSet(event, field, value);
    };
    fillField('id', newEventId());
    fillField('invocationId', this.invocationId);
    fillField('author', context?.agentName ?? 'user');
    fillField('branch', context?.branch);
    fillField('timestamp', Date.now());
    const { author, content } = event;
    if (typeof content === 'string') requireSet(event, 'content', takeContent(content, author));
    return event as unknown as Event & Omit<E, keyof Event>;
  }

  /**
   * Removes the `temp:` keys from the session's state.
   *
   * @param late the delta of an append that was under way at the end: only its values are removed, because others
   *   may belong to the next invocation
   */
  #dropTemp(late?: Readonly<StateShape>): void {
    try {
      const state: StateShape = this.session.state;
      for (const key of Object.keys(state)) {
        if (!isTemp(key) || (late !== undefined && !Object.is(state[key], late[key]))) continue;
        Reflect.deleteProperty(state, key);
      }
    } catch {
      // The handle's proxies throw. A stored append must not fail because of that.
    }
  }
}

function requireSet(event: object, field: string, value: unknown): void {
  if (tryDefineMember(event, field, value)) return;
  throw invalid(`event.${field}`, 'cannot be set: the event is frozen; append a copy: {...event}');
}
