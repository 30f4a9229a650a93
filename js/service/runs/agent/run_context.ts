import type { Content } from '../../../values/model/event/content.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';

/**
 * An event that an agent yields, or that a page sends. `invocationId` may be absent: in a run it is that of the message,
 * otherwise a new one.
 */
export type SentEvent = Omit<NewEvent, 'invocationId'> & {
  /** The same for all events from one user message to the final answer. */
  readonly invocationId?: string | undefined;
};

/** The handle of an agent through which a run stores its message. Without one, the run opens a handle. */
export interface MessageHandle {
  /** The service that made the handle. */
  readonly service: Pick<SessionService, 'appendEvent'>;
  /** The handle, which gets the message. */
  readonly session: Session;
  /** The content as a plugin has changed it. Default: that of the message. */
  readonly content?: Content | undefined;
}

/** What an agent gets to answer one message. */
export interface RunContext extends CompositeSessionKey {
  /** The service that has the session. */
  readonly service: SessionService;
  /** The user's event: a message, or answers to calls. Its invocation is that of the run. */
  readonly message: Event;
  /** Whether the agent should yield pieces of answers, as events with `partial: true`. */
  readonly streaming: boolean;
  /** Fires when the run is cancelled. */
  readonly signal: HostAbortSignal;
  /**
   * Stores the message, once, and returns the session with it. If the agent has not called it, the run calls it at the
   * agent's first event. If it rejects, the run has to end.
   *
   * @throws SessionError `already_exists` if the message is stored already: another run answers it. Any error of
   *   `appendEvent`
   */
  storeMessage(handle?: MessageHandle): Promise<Session>;
}

/**
 * Answers a message of a user. It yields events. Pieces of an answer have `partial: true`: they are shown and not
 * stored. All other events are stored, unless the agent has stored them itself.
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
   * The author of the event that marks a run as cancelled. Default: the author of the last event that is not the
   * user's.
   */
  readonly agentName?: string | undefined;
}
