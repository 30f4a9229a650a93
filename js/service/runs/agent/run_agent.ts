import { onAbort } from '../../../core/call/on_abort.js';
import { TimeLimit } from '../../../core/call/time_limit.js';
import { invalidValue } from '../../../values/errors/invalid.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { requireObject } from '../../../values/errors/option_values.js';
import type { Event } from '../../../values/model/event/event.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type { CompositeSessionKey, Session } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { claimMessage } from './claim.js';
import { copyEvent, copyPiece } from './copies.js';
import type { MessageHandle, RunAgent, RunContext, SentEvent } from './run_context.js';

/** Milliseconds that a cancelled agent may take to end. After that, nobody waits for it. */
const END_MS = 1000;

/** A run of an agent. */
export interface AgentRun {
  readonly key: CompositeSessionKey;
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly message: Event;
  /** Whether the message is stored already, in one step with the rewind before it. */
  readonly isStored: boolean;
  /** The revision at which the message was admitted. Absent: any. */
  readonly expectedRevision?: number | undefined;
  readonly streaming: boolean;
  readonly signal: HostAbortSignal;
  /** Called when the message is stored. */
  readonly onStored: (message: Event) => void;
  /** Called with each piece of an answer. */
  readonly onPiece: (piece: Event) => void;
  /** Called with each whole event, once it is stored. */
  readonly onWhole: (event: Event) => void;
}

/**
 * Lets an agent answer a message. Resolves when the agent has ended and the message is stored, or a second after the
 * signal has fired. Events that the agent yields after the signal are dropped. `storeMessage` rejects after the end.
 *
 * @throws the error of the agent; SessionError as `storeMessage`
 */
export async function runAgent(run: AgentRun): Promise<void> {
  const { key, service, agent, message, signal, streaming } = run;
  const stored = new StoredMessage(run);
  const storeMessage = (handle?: MessageHandle): Promise<Session> => stored.store(handle, true);
  const context: RunContext = { ...key, service, message, streaming, signal, storeMessage };
  const events = iterate(agent, context);
  const limit = new TimeLimit(undefined);
  const ignore = onAbort(signal, () => limit.start(END_MS));
  try {
    for (;;) {
      const next = events.next();
      const isInTime = await limit.until(next);
      if (!isInTime || signal.aborted) break;
      const result = await next;
      if (result.done === true) break;
      await take(run, stored, result.value);
    }
    if (!signal.aborted) await stored.store();
  } finally {
    stored.end();
    ignore();
    limit.end();
    // Not awaited: an agent that waits for something may never end.
    events.return?.().catch(() => undefined);
  }
}

async function take(run: AgentRun, stored: StoredMessage, given: SentEvent): Promise<void> {
  requireObject('event', given);
  const { message, onPiece, onWhole } = run;
  const invocationId = given.invocationId ?? message.invocationId;
  const isPiece = given.partial === true;
  const event = (isPiece ? copyPiece : copyEvent)({ ...given, invocationId });
  const session = await stored.store();
  if (isPiece) return onPiece(event);
  await storeWhole(stored.service, session, event);
  onWhole(event);
}

/** Stores a whole event that was yielded, unless the agent has stored it. */
async function storeWhole(
  service: Pick<SessionService, 'appendEvent'>,
  session: Session,
  event: Event,
): Promise<void> {
  if (session.events.findLast(({ id }) => id === event.id) !== undefined) return;
  try {
    await service.appendEvent({ session, event, expectedEvents: { [event.id]: null } });
  } catch (error) {
    // The agent has stored it in another form, through another handle.
    if (!isSessionError(error, 'stale_session') || error.actualEvents === undefined) throw error;
  }
}

/** The message of a run, which is stored once. */
class StoredMessage {
  /** The service that the events of the run are stored with. */
  service: Pick<SessionService, 'appendEvent'>;
  readonly #run: AgentRun;
  #storing: Promise<Session> | undefined;
  #isOver = false;

  constructor(run: AgentRun) {
    this.service = run.service;
    this.#run = run;
  }

  /** @param needsEvents whether the session is for an agent, which reads its events */
  store(handle?: MessageHandle, needsEvents = false): Promise<Session> {
    if (this.#isOver) {
      return Promise.reject(new SessionError('aborted', 'The run has ended. Nothing was written.'));
    }
    return (this.#storing ??= this.#store(handle, needsEvents));
  }

  end(): void {
    this.#isOver = true;
  }

  async #store(handle: MessageHandle | undefined, needsEvents: boolean): Promise<Session> {
    const { key, service, isStored, expectedRevision, onStored } = this.#run;
    const config = needsEvents ? {} : { numRecentEvents: 0 };
    const session = handle?.session ?? (await service.getSession({ ...key, config }));
    if (session === undefined) {
      throw new SessionError('not_found', `The session "${key.sessionId}" does not exist.`);
    }
    this.service = handle?.service ?? this.service;
    const { content = this.#run.message.content } = handle ?? {};
    const message = { ...this.#run.message, ...(content !== undefined && { content }) };
    if (isStored) {
      // A plugin may have changed the message.
      if (handle?.content !== undefined)
        await this.service.appendEvent({ session, event: message });
    } else await claimMessage(this.service, session, message, expectedRevision);
    onStored(message);
    return session;
  }
}

/** @throws SessionError `invalid_argument` if the function does not return events; what it throws */
function iterate(agent: RunAgent, context: RunContext): AsyncIterator<SentEvent> {
  const events: unknown = agent(context);
  const { [Symbol.asyncIterator]: iterator } = Object(events) as Partial<AsyncIterable<SentEvent>>;
  if (typeof iterator === 'function') return Reflect.apply(iterator, events, []);
  throw invalidValue('run', 'must be an async generator, or return an async iterable', events);
}
