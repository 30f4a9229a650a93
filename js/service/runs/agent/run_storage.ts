import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { invalid, sessionNotFound } from '../../../values/errors/invalid.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import type { Event, NewEvent } from '../../../values/model/event/event.js';
import { withContent } from '../../../values/model/event/place_files.js';
import type { HiddenMembers } from '../../../values/model/diagnostic.js';
import type { HostAbortSignal } from '../../../values/model/host.js';
import type {
  AppendEventRequest,
  CompositeSessionKey,
  Session,
} from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { StateShape } from '../../../values/state/state_shape.js';
import type { MessageHandle, RunAgent, RunStore } from './run_context.js';

/** A message whose turn has come. */
export interface AdmittedMessage {
  readonly message: Event;
  /** Whether it is stored already, in one step with a rewind. */
  readonly isStored: boolean;
  /** The revision at which it was admitted. If the session has another one by now, the message is admitted again. */
  readonly expectedRevision?: number | undefined;
  /** See `HiddenMembers`. */
  readonly firstTitle?: string | undefined;
  /** The handle that stores the message, if it also creates the session. Absent: it is read. */
  readonly session?: Session | undefined;
  /** The event with the first call that the message answers. */
  readonly callEventId?: string | undefined;
  /** On a server: the idempotency key of the append, which says what runs the message; see `RunMark`. */
  readonly mark?: string | undefined;
  /** See `HiddenMembers`. */
  readonly endEvents?: readonly NewEvent[] | undefined;
}

/** A run of an agent. */
export interface AgentRun {
  readonly key: CompositeSessionKey;
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly streaming: boolean;
  readonly signal: HostAbortSignal;
  /** Prepares the message. It is called again if the session has changed before the message was stored. */
  readonly admit: () => Promise<AdmittedMessage>;
  /** Called with each form of the message that was admitted. */
  readonly onAdmitted?: (message: Event) => void;
  /** Called when the message is stored. */
  readonly onStored: (message: Event) => void;
  /** Called with each partial event of an answer. */
  readonly onPartial: (partial: Event) => void;
  /** Called with each whole event, once it is stored. */
  readonly onWhole: (event: Event) => void;
}

type Appends = Pick<SessionService, 'appendEvent'>;

/** The most times that a message is admitted because the session has changed. */
export const MAX_ADMISSIONS = 5;

/** What one run stores: its message, once, and the whole events that its agent yields. */
export class RunStorage implements RunStore {
  readonly #run: AgentRun;
  /** What the appends of the run threw. */
  readonly #errors = new WeakSet<object>();
  #service: Appends;
  #admitted: AdmittedMessage | undefined;
  #storing: Promise<void> | undefined;
  /**
   * The handle of the run. It may lack the events before the message, unless the agent has asked for it or given it.
   */
  #handle: Session | undefined;
  #wholeHandle: Promise<Session> | undefined;
  #isOver = false;
  isStored = false;

  constructor(run: AgentRun) {
    this.#run = run;
    this.#service = run.service;
  }

  /** Whether the run's own work threw this, and not the agent. */
  isOwn(error: unknown): boolean {
    return this.#errors.has(Object(error) as object);
  }

  async admit(): Promise<Event> {
    this.#admitted = await this.#run.admit();
    const { message, isStored } = this.#admitted;
    this.#run.onAdmitted?.(message);
    if (isStored) this.#noteStored(message);
    return message;
  }

  storeMessage(handle?: MessageHandle): Promise<void> {
    if (this.#isOver) return Promise.reject(endedError());
    const before = this.#storing;
    if (before === undefined) {
      return (this.#storing = this.own(() => this.#storeMessage(handle)));
    }
    if (handle === undefined) return before;
    // The message is stored, and a runner within the agent comes to it. From now on the run uses its handle.
    return (this.#storing = before.then(() => this.own(() => this.#storeMessage(handle))));
  }

  async own<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (Object(error) === error) this.#errors.add(error as object);
      throw error;
    }
  }

  /** See `RunContext.session`. */
  session(): Promise<Session> {
    if (this.#isOver) return Promise.reject(endedError());
    if (!this.isStored) {
      const text = 'The message of the run is not stored yet.';
      return Promise.reject(new SessionError('not_found', text));
    }
    const read = async (): Promise<Session> => {
      await this.#storing;
      const { service, key } = this.#run;
      const session = await service.getSession({ ...key });
      if (session === undefined) throw sessionNotFound(key.sessionId);
      return (this.#handle = session);
    };
    const reading = (this.#wholeHandle ??= read());
    reading.catch(() => (this.#wholeHandle = undefined));
    return reading;
  }

  /**
   * Stores a whole event that was yielded, unless the agent has stored it.
   *
   * @throws SessionError `invalid_argument` if another invocation has an event with its id
   */
  async storeWhole(event: Event): Promise<void> {
    await this.#wholeHandle?.catch(() => undefined);
    const session = this.#handle!;
    const known = session.events.findLast(({ id }) => id === event.id);
    if (known !== undefined) return requireOwn(known, event);
    try {
      await this.#service.appendEvent({ session, event, expectedEvents: { [event.id]: null } });
    } catch (error) {
      if (!isSessionError(error, 'stale_session') || error.actualEvents === undefined) throw error;
      // The agent has stored it in another form, through another handle.
      const { service, key } = this.#run;
      const { events } = await service.getEvents({ ...key, eventIds: [event.id] });
      for (const { event: stored } of events) requireOwn(stored, event);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  async #storeMessage(given: MessageHandle | undefined): Promise<void> {
    for (let admissions = 1; ; admissions += 1) {
      const { message, session: created, ...admitted } = this.#admitted!;
      const { isStored } = this;
      const service = given?.service ?? this.#service;
      const content = given?.content;
      const event = content === undefined ? message : withContent(message, content);
      try {
        const session = given?.session ?? created ?? (await openHandle(this.#run));
        // A plugin may have changed a message that is stored already.
        if (!isStored) await storeMessageOnce(service, session, event, admitted);
        else if (content !== undefined) await service.appendEvent({ session, event });
        this.#service = service;
        this.#handle = session;
        if (given !== undefined) this.#wholeHandle = Promise.resolve(session);
        if (!isStored) this.#noteStored(event);
        return;
      } catch (error) {
        const mayRepeat = admitted.expectedRevision !== undefined && admissions < MAX_ADMISSIONS;
        if (!mayRepeat || !isSessionError(error, 'stale_session')) throw error;
        await this.admit();
      }
    }
  }

  #noteStored(message: Event): void {
    this.isStored = true;
    this.#run.onStored(message);
  }
}

/** Reads a session without its events, for appends alone. @throws SessionError `not_found` */
export async function openHandle({
  service,
  key,
}: Pick<AgentRun, 'service' | 'key'>): Promise<Session> {
  const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (session === undefined) throw sessionNotFound(key.sessionId);
  return session;
}

/**
 * Appends the message of a run. The append has an idempotency key: of two runs of one message, one stores it, and the
 * other fails. If the storage's answer is lost, the append is repeated. It recognises its own event by the key, which
 * only the stored text has.
 *
 * @param admitted the revision at which the message was admitted, which the session must still have, its title, its mark
 *   and the end events of another run
 * @throws SessionError `already_exists` if the message is stored; any error of `appendEvent`
 */
export async function storeMessageOnce(
  service: Appends,
  session: Session,
  message: Event,
  {
    expectedRevision,
    firstTitle,
    mark = newEventId(),
    endEvents,
  }: Pick<AdmittedMessage, 'expectedRevision' | 'firstTitle' | 'mark' | 'endEvents'> = {},
): Promise<void> {
  const request: AppendEventRequest & HiddenMembers = {
    session,
    event: message,
    expectedRevision,
    firstTitle,
    idempotencyKey: mark,
    endEvents,
  };
  try {
    await service.appendEvent<Event>(request as AppendEventRequest<StateShape, Event>);
  } catch (cause) {
    if (!isSessionError(cause, 'stale_session') || cause.actualEvents === undefined) throw cause;
    throw storedAlreadyError(message.id, cause);
  }
}

export function storedAlreadyError(messageId: string, cause?: unknown): SessionError {
  const text = `The message "${messageId}" is stored already: its run has begun. Nothing was written.`;
  return new SessionError('already_exists', text, { key: 'message.id', cause });
}

/** Returns whether an append was refused because the message of its run is stored already. */
export function isStoredAlready(error: unknown): error is SessionError {
  return isSessionError(error, 'already_exists') && error.key === 'message.id';
}

/** @throws SessionError `invalid_argument` if a stored event with the id of another one is of another invocation */
function requireOwn({ invocationId }: Event, event: Event): void {
  if (invocationId === event.invocationId) return;
  throw invalid('event.id', 'is the id of a stored event of another invocation');
}

function endedError(): SessionError {
  return new SessionError('aborted', 'The run has ended. Nothing was written.');
}
