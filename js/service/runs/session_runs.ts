/**
 * Runs: an agent in the page answers the messages of a session. `server/` has those of an agent on the server.
 *
 * | word in this folder | meaning |
 * |---|---|
 * | message | the user's event that a run answers; the run's events belong to its invocation |
 * | ask | to put a message into the queue of its session |
 * | admit | to prepare a message whose turn has come: its session exists, or its rewind is stored |
 * | claim | the append of the message: of two runs of one message, only one succeeds |
 * | piece | an event with `partial: true` |
 * | whole event | any other event; it is stored |
 * | draft | the pieces of one answer so far, joined to one event |
 * | seal | to store the events that mark a run as cancelled |
 * | tell | to send a run as it is now to the other tabs |
 *
 * The folder calls only the public methods of a service. It has two exceptions: the claim, which is a hidden member of
 * an append, and the core of a service, which has the feed's channel and the agent of a server. It knows neither live
 * sessions nor `@google/adk`.
 */
import { messageOf } from '../../values/errors/describe.js';
import { isSessionError, SessionError } from '../../values/errors/errors.js';
import { coreOf } from '../../core/core_of.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { cancelledError, isRunCancelled, sealRun } from './state/cancelled.js';
import type { Draft } from '../../core/run_report.js';
import { Drafts } from './agent/drafts.js';
import { runAgent } from './agent/run_agent.js';
import { RunLock } from './tabs/run_lock.js';
import { OtherTabs } from './tabs/other_tabs.js';
import type { RunEnd, TabRun } from './tabs/run_messages.js';
import type { SessionRun } from './state/session_run.js';
import { type QueuedMessage, RunQueue, storeAdmitted } from './run_queue.js';
import type { AdmittedMessage, AskedMessage, Runs } from './runs.js';
import { RunsOfSessions } from './runs_of_sessions.js';
import { sessionName } from '../../values/model/values/session_name.js';

interface CurrentRun {
  readonly asked: QueuedMessage;
  readonly controller: AbortController;
  message: Event | undefined;
  isStored: boolean;
  /** Whether the session is gone, so that nothing is sealed. */
  isAbandoned: boolean;
  ended: Promise<void>;
}

/** Milliseconds that another tab may take to cancel its run: a second for the agent, and the rest for the seal. */
const OTHER_TAB_MS = 3000;

/**
 * The runs of one session: one at a time in all tabs, and this realm's queue of messages. All stores of the session in
 * this realm share one instance. It outlives the stores, so unmounting a component cancels nothing.
 */
export class SessionRuns extends RunQueue implements Runs {
  readonly #service: SessionService;
  readonly #key: CompositeSessionKey;
  readonly #lock: RunLock;
  readonly #others: OtherTabs;
  readonly #drafts = new Drafts();
  #current: CurrentRun | undefined;
  /** The outcome of the last run, if it failed or was cancelled. */
  #last: SessionRun | undefined;

  constructor(service: SessionService, key: CompositeSessionKey, channelName: string | undefined) {
    super();
    this.#service = service;
    this.#key = key;
    const session = sessionName(key);
    this.#lock = new RunLock(channelName && `${channelName}:run:${session}`);
    this.#others = new OtherTabs(session, channelName, this.#lock, {
      changed: () => this.changed(),
      cancel: (messageId) => {
        if (this.#current?.message?.id === messageId) void this.#cancelCurrent(this.#current);
      },
      tellNow: () => this.#tell('running'),
    });
  }

  /** The run, as far as it is known without the stored events. `messageId` is empty until the other tab has told it. */
  get run(): SessionRun | undefined {
    const { message } = this.#current ?? {};
    if (message !== undefined) return { status: 'running', messageId: message.id };
    const { running } = this.#others;
    if (running !== undefined) return { status: 'running', messageId: running.messageId };
    const waiting = this.#current?.asked ?? (this.isPaused ? undefined : this.queue[0]);
    if (waiting !== undefined) return { status: 'queued', messageId: waiting.id };
    return this.#last ?? this.#others.last;
  }

  /** The invocation of the run. */
  get invocationId(): string | undefined {
    return this.#current?.message?.invocationId ?? this.#others.running?.invocationId;
  }

  /** Other tabs tell what runs by their lock. */
  readonly isKnown = true;

  get isRunning(): boolean {
    return this.#current !== undefined || this.#others.running !== undefined;
  }

  /** The drafts of the run, or of the last one. */
  get drafts(): readonly Draft[] {
    return this.#streamedElsewhere?.drafts ?? this.#drafts.all;
  }

  /** The ids of the whole events of the same run. */
  get wholes(): readonly string[] {
    return this.#streamedElsewhere?.wholes ?? this.#drafts.wholes;
  }

  /** The drafts of another tab, if the last run was there. */
  get #streamedElsewhere(): TabRun | undefined {
    return this.#current === undefined ? this.#others.streamed : undefined;
  }

  /** The ids of the calls whose answers wait in the queue or belong to the current run. */
  get answeredNow(): ReadonlySet<string> {
    return new Set(this.callsAnsweredBy(this.#current?.asked));
  }

  follow(listener: () => void): () => void {
    const remove = this.listen(listener);
    const stop = this.#others.follow();
    return () => {
      if (remove()) stop();
    };
  }

  override async ask(asked: AskedMessage): Promise<Event> {
    if (asked.isOfRewind === true && this.isRunning) await this.cancel(undefined, undefined);
    return super.ask(asked);
  }

  /**
   * Cancels a run, here or in another tab, or removes a message from the queue. Seals a stored message that has no run.
   *
   * @param message the newest message, if nobody has answered it
   */
  async cancel(messageId: string | undefined, message: Event | undefined): Promise<void> {
    const isMeant = (id: string | undefined): boolean =>
      messageId === undefined || id === messageId;
    const current = this.#current;
    const { running } = this.#others;
    if (current && (isMeant(current.message?.id) || isMeant(current.asked.id))) {
      return this.#cancelCurrent(current);
    }
    const waiting = this.queue.find(({ id }) => isMeant(id));
    if (running === undefined && waiting !== undefined) return void this.discard(waiting.id);
    if (running !== undefined) {
      if (!isMeant(running.messageId) && running.messageId !== '') {
        return void (messageId !== undefined && this.discard(messageId));
      }
      this.#others.askToCancel(running.messageId || message?.id);
      await this.#lock.released(OTHER_TAB_MS);
    }
    if (message === undefined || !isMeant(message.id)) return;
    await this.#lock.hold(() => this.#seal(message, undefined, true));
    this.changed();
  }

  /** Does the work under the lock, so that no other run begins meanwhile. */
  async change<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isRunning) await this.cancel(undefined, undefined);
    return this.#lock.hold(work);
  }

  /** Ends the run and empties the queue, because the session is gone. Nothing is sealed. */
  abandon(): void {
    this.discardAll();
    if (this.#current === undefined) return;
    this.#current.isAbandoned = true;
    this.#current.controller.abort(cancelledError());
  }

  protected get next(): QueuedMessage | undefined {
    return this.isPaused ? undefined : this.queue[0];
  }

  protected async answerNext(): Promise<void> {
    const hold = this.#lock.hold(async () => {
      // The message may have been removed while another tab had the lock.
      const asked = this.isPaused ? undefined : this.queue.shift();
      if (asked !== undefined) await this.#run(asked);
    });
    // A page that is going away gets no lock.
    await hold.catch((error: unknown) => this.queue.shift()?.reject(error));
    this.changed();
  }

  async #run(asked: QueuedMessage): Promise<void> {
    const controller = new AbortController();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const current: CurrentRun = {
      ...{ asked, controller, message: undefined, isStored: false, isAbandoned: false, ended },
    };
    this.#current = current;
    this.#last = undefined;
    this.#drafts.clear();
    const stop = this.#others.begin();
    let failure: { readonly error: unknown } | undefined;
    try {
      await this.#answer(current);
    } catch (error) {
      failure = { error };
    }
    const outcome = await this.#end(current, failure);
    this.#current = undefined;
    this.#tell(outcome, current.message);
    stop();
    end();
    this.changed();
  }

  async #answer(current: CurrentRun): Promise<void> {
    const { asked, controller } = current;
    const { signal } = controller;
    const noteStored = (stored: Event): void => {
      current.isStored = true;
      asked.resolve(stored);
      this.changed();
    };
    const run = async (admitted: AdmittedMessage): Promise<void> => {
      const { message } = admitted;
      current.message = message;
      if (admitted.isStored) noteStored(message);
      if (signal.aborted) return;
      this.changed();
      this.#tell('running');
      await runAgent({
        ...{ key: this.#key, service: this.#service, agent: asked.agent!, signal },
        ...admitted,
        streaming: asked.streaming,
        onStored: noteStored,
        onPiece: (piece) => {
          this.#drafts.add(piece);
          this.#drafted();
        },
        onWhole: (whole) => {
          this.#drafts.end(whole);
          this.#drafted();
        },
      });
    };
    await storeAdmitted(asked, run, () => current.isStored);
  }

  /** Settles the caller of a run that has ended, and seals a cancelled run. Never rejects. */
  async #end(
    { asked, controller, message, isStored, isAbandoned }: CurrentRun,
    failure: { readonly error: unknown } | undefined,
  ): Promise<RunEnd> {
    // Another process has cancelled the run: its next append is refused.
    const isCancelled = controller.signal.aborted || isRunCancelled(failure?.error);
    if (
      failure !== undefined &&
      !isCancelled &&
      !isStored &&
      isAlreadyStored(failure.error, message)
    ) {
      // Another run of this message has begun, in another tab or earlier. No message runs twice.
      const stored = await this.#storedMessage(message!.id).catch(() => undefined);
      asked.resolve(stored ?? message!);
      return 'ended';
    }
    if (!isCancelled && failure === undefined) return 'ended';
    this.isPaused = true;
    if (!isStored || message === undefined) {
      asked.reject(isCancelled ? cancelledError(' Nothing was written.') : failure?.error);
      return isCancelled ? 'cancelled' : 'failed';
    }
    if (!isCancelled) {
      this.#last = { status: 'failed', messageId: message.id, error: runError(failure!.error) };
      return 'failed';
    }
    this.#last = { status: 'cancelled', messageId: message.id };
    if (isAbandoned) return 'cancelled';
    await this.#seal(message, asked.agent?.agentName, false).catch((error: unknown) => {
      this.#last = { status: 'failed', messageId: message.id, error };
    });
    return 'cancelled';
  }

  async #storedMessage(eventId: string): Promise<Event | undefined> {
    const { events } = await this.#service.getEvents({ ...this.#key, eventIds: [eventId] });
    return events[0]?.event;
  }

  async #seal(message: Event, agentName: string | undefined, isUnanswered: boolean): Promise<void> {
    const drafts = this.#drafts.all;
    const run = { key: this.#key, message, drafts, agentName, isUnanswered };
    for (const event of await sealRun(this.#service, run)) this.#drafts.end(event as Event);
  }

  async #cancelCurrent(current: CurrentRun): Promise<void> {
    current.controller.abort(cancelledError());
    await current.ended;
  }

  #drafted(): void {
    this.changed();
    this.#others.tellSoon();
  }

  #tell(status: 'running' | RunEnd, message = this.#current?.message): void {
    if (message === undefined) return;
    const { id: messageId, invocationId } = message;
    const error = status === 'failed' ? this.#last?.error : undefined;
    const told = isSessionError(error) ? { code: error.code, message: error.message } : undefined;
    const { all: drafts, wholes } = this.#drafts;
    this.#others.tell({
      messageId,
      invocationId,
      status,
      drafts,
      wholes,
      ...(told && { error: told }),
    });
  }
}

/** Whether a run failed because its message was stored already. */
function isAlreadyStored(error: unknown, message: Event | undefined): boolean {
  return (
    message !== undefined && isSessionError(error, 'already_exists') && error.key === 'message.id'
  );
}

function runError(error: unknown): SessionError {
  if (isSessionError(error)) return error;
  return new SessionError('run_failed', `The agent failed: ${messageOf(error)}`, { cause: error });
}

const runsOfStorages = new RunsOfSessions<SessionRuns>();

/** Returns the runs of a session, which all stores of this realm share. */
export function sessionRunsOf(service: SessionService, key: CompositeSessionKey): SessionRuns {
  const feed = coreOf(service)?.feed.feed;
  const make = () => new SessionRuns(service, key, feed?.channelName);
  return runsOfStorages.get(feed ?? service, key, make);
}
