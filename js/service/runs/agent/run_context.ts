import type { ArtifactService } from '../../../values/model/artifact.js';
import type { Content } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';

/**
 * An event that an agent yields, or that a page sends. `invocationId` may be absent: in a run it is that of the
 * message, otherwise a new one.
 */
export type SentEvent = Omit<NewEvent, 'invocationId'> & {
  /** The same for all events from one user message to the final answer. */
  readonly invocationId?: string | undefined;
};

/**
 * The member of an agent that stores its message itself, in the middle of its own work: a `Runner` stores it after its
 * plugins. The run of any other agent stores the message before it calls the agent.
 */
export const STORES_MESSAGE = Symbol.for('adk-session-wasm.storesMessage');

/** The member of a context by which such an agent stores its message. A symbol, so that a spread keeps it. */
export const RUN_STORE = Symbol.for('adk-session-wasm.runStore');

/** How an agent that stores its message itself reaches the storage of its run. */
export interface RunStore {
  readonly isStored: boolean;
  /** Stores the message once, through the agent's handle, which gets it. Repeats that if the session has changed. */
  storeMessage(handle: MessageHandle): Promise<void>;
  /** Does other work of the run, and not of its agent. The error of such work keeps its code. */
  own<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** The handle of an agent through which its run stores the message. */
export interface MessageHandle {
  /** The service that made the handle. */
  readonly service: Pick<SessionService, 'appendEvent'>;
  /** The handle, which gets the message. */
  readonly session: Session;
  /** The message of the context. */
  readonly message: Event;
  /** The content as a plugin has changed it. Default: that of the message. */
  readonly content?: Content | undefined;
}

/** What an agent gets to answer one message. */
export interface RunContext extends CompositeSessionKey {
  /** The service that has the session. */
  readonly service: SessionService;
  /**
   * The files of the service, for the session in which the run began: if that was deleted, calls that name it fail with
   * `not_found`, although there may be another session with its id. `undefined` if the service has no files.
   */
  readonly artifacts?: Required<ArtifactService> | undefined;
  /** The user's event: a message, or answers to calls. Its invocation is that of the run. */
  readonly message: Event;
  /** Whether the agent should yield partial events of answers, as events with `partial: true`. */
  readonly streaming: boolean;
  /** Fires when the run is cancelled. */
  readonly signal: HostAbortSignal;
  /**
   * Returns the session with the message, for an `Invocation`: the handle through which the run stores what the agent
   * yields.
   *
   * @throws SessionError (as a rejection) `not_found` while the message is not stored, or if the session was deleted;
   *   `aborted` after the run has ended
   */
  session(): Promise<Session>;
  /** @internal See {@link RunStore}. */
  readonly [RUN_STORE]?: RunStore | undefined;
}

/**
 * Answers a message of a user, which is stored before the function is called. It yields events. Partial events of an
 * answer have `partial: true`: they are shown and not stored. All other events are stored, unless the agent has stored
 * them itself.
 *
 * The run fails if the function throws, or yields something else than events, an event with the id of the message, or
 * one with the id of a stored event of another invocation.
 *
 * @example
 * ```ts
 * import type { RunAgent } from 'adk-session-wasm/live';
 *
 * const echo: RunAgent = async function* ({ message }) {
 *   const text = `You said: ${message.content?.parts?.[0]?.text}`;
 *   yield { author: 'echo', content: { role: 'model', parts: [{ text }] } };
 * };
 * ```
 */
export interface RunAgent {
  (run: RunContext): AsyncIterable<SentEvent>;
  /**
   * The author of events that the agent yields without one, and of the event that marks a run as cancelled. Default:
   * each event needs its author, and the mark has that of the last event that is not the user's.
   */
  readonly agentName?: string | undefined;
  /** @internal See {@link STORES_MESSAGE}. */
  readonly [STORES_MESSAGE]?: boolean | undefined;
}
