import { backgroundTimer } from '../../../core/call/program_hold.js';
import { endsWithin } from '../../../core/call/time_limit.js';
import { type Core, coreOf, type ServerAgent } from '../../../core/core_of.js';
import type { RunReport } from '../../../core/run_report.js';
import { isSessionError, SessionError } from '../../../values/errors/errors.js';
import { isWaitingForRun, retryAfterOf } from '../../../stores/http/http_errors.js';
import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { Draft } from '../../../core/run_report.js';
import { type QueuedMessage, RunQueue, storeAdmitted } from '../run_queue.js';
import type { AdmittedMessage, Runs } from '../runs.js';
import { RunsOfSessions } from '../runs_of_sessions.js';
import { cancelledError } from '../state/cancelled.js';
import type { SessionRun } from '../state/session_run.js';
import { toldError } from '../state/told_error.js';

/** A message that is being sent. */
interface Sending {
  readonly asked: QueuedMessage;
  /** Present once it is admitted. */
  message: Event | undefined;
  isCancelled: boolean;
}

/** Milliseconds until a message is sent again that had to wait for a run. Mostly the feed tells the end of that run before. */
const AGAIN_MS = 1000;
/** Milliseconds for which a stored message counts as running although the server has told nothing of its run. */
const UNTOLD_MS = 5000;
/** Milliseconds to wait for the first report. After that, nothing is taken to run. */
const UNKNOWN_MS = 2000;
/** Milliseconds to wait for the report that a cancelled run has ended. */
const CANCELLED_MS = 2000;

/**
 * The runs of one session whose server has the agent. The server has at most one at a time, and tells it on its feed. The queue is
 * that of this realm; a cache has its outbox for that, which outlives the page.
 */
export class RemoteRuns extends RunQueue implements Runs {
  readonly #service: SessionService;
  readonly #key: CompositeSessionKey;
  readonly #agent: ServerAgent;
  /** Whether the service keeps messages until the server takes them. */
  readonly #isCache: boolean;
  #stopFeed: (() => void) | undefined;
  /** The last report; `ended` if the server has told of no run since. */
  #report: RunReport | undefined;
  /** A message that the service has stored, and of whose run the server has told nothing yet. */
  #begun: Pick<Event, 'id' | 'invocationId'> | undefined;
  #begunTimer: ReturnType<typeof setTimeout> | undefined;
  #knownTimer: ReturnType<typeof setTimeout> | undefined;
  #answered: ReadonlySet<string> = new Set();
  #sending: Sending | undefined;
  #againTimer: ReturnType<typeof setTimeout> | undefined;
  isKnown = false;

  constructor(service: SessionService, key: CompositeSessionKey, core: Core) {
    super();
    this.#service = service;
    this.#key = key;
    this.#agent = core.serverAgent!;
    this.#isCache = core.epochs !== undefined;
  }

  get run(): SessionRun | undefined {
    const running = this.#running;
    if (running !== undefined) return { status: 'running', messageId: running.messageId };
    const first = this.isPaused ? undefined : this.queue[0]?.id;
    const waiting = this.#sending?.asked.id ?? this.#begun?.id ?? first;
    if (waiting !== undefined) return { status: 'queued', messageId: waiting };
    const { status, messageId, error } = this.#report ?? {};
    if (messageId === undefined || (status !== 'failed' && status !== 'cancelled'))
      return undefined;
    return { status, messageId, ...(status === 'failed' && { error: toldError(error) }) };
  }

  get invocationId(): string | undefined {
    return this.#running?.invocationId;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get drafts(): readonly Draft[] {
    return this.#report?.drafts ?? [];
  }

  get wholes(): readonly string[] {
    return this.#report?.wholes ?? [];
  }

  get answeredNow(): ReadonlySet<string> {
    return new Set([...this.#answered, ...this.callsAnsweredBy(this.#sending?.asked)]);
  }

  /** What the server runs, or is about to run. */
  get #running(): Pick<RunReport, 'messageId' | 'invocationId'> | undefined {
    if (this.#report?.status === 'running') return this.#report;
    if (this.#begun === undefined || this.#isCache) return undefined;
    const { id: messageId, invocationId } = this.#begun;
    return { messageId, invocationId };
  }

  follow(listener: () => void): () => void {
    const remove = this.listen(listener);
    if (this.#stopFeed === undefined) {
      this.#stopFeed = this.#agent.follow(this.#key, (report, isKnown) => {
        if (isKnown) this.#take(report);
        else this.#takeEnd();
      });
      this.#knownTimer = backgroundTimer(() => this.#setKnown(), UNKNOWN_MS);
    }
    return () => {
      if (!remove() || this.isFollowed) return;
      this.#stopFeed?.();
      this.#stopFeed = undefined;
      clearTimeout(this.#knownTimer);
      this.isKnown = false;
    };
  }

  async cancel(messageId: string | undefined, message: Event | undefined): Promise<void> {
    const isMeant = (id: string | undefined): boolean =>
      id !== undefined && (messageId === undefined || id === messageId);
    const running = this.#running?.messageId;
    const sending = this.#sending;
    if (running !== undefined && isMeant(running)) return this.#cancel(running);
    if (sending !== undefined && (isMeant(sending.message?.id) || isMeant(sending.asked.id))) {
      // It is still being sent. It is cancelled once the server has stored it.
      sending.isCancelled = true;
      if (sending.message !== undefined) await this.#cancel(sending.message.id);
      return;
    }
    const waiting = this.queue.find(({ id }) => isMeant(id));
    if (waiting !== undefined) return void this.discard(waiting.id);
    const unanswered = messageId ?? message?.id;
    if (unanswered !== undefined) await this.#cancel(unanswered);
  }

  /** The server cancels the run when it rewinds. */
  change<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }

  abandon(): void {
    this.discardAll();
    this.#setBegun(undefined);
    if (this.#report !== undefined) this.#report = { ...this.#report, status: 'ended' };
  }

  #setKnown(): void {
    clearTimeout(this.#knownTimer);
    if (this.isKnown) return;
    this.isKnown = true;
    this.changed();
  }

  /** Takes what the server tells: the run, or `undefined` if nothing runs. */
  #take(report: RunReport | undefined): void {
    const before = this.#report;
    const begun = this.#begun?.id;
    this.#report = report ?? (before && { ...before, status: 'ended' });
    const isOther = report !== undefined && report.messageId !== begun;
    // The end of an earlier run may come after the answer that the message is stored.
    if (!isOther || report.status === 'running') this.#setBegun(undefined);
    if (report?.status !== 'running' && this.#begun === undefined) this.#answered = new Set();
    const hasFailed = report?.status === 'failed' || report?.status === 'cancelled';
    const running = before?.status === 'running' ? before.messageId : begun;
    // A failure from before this page holds up nothing.
    if (hasFailed && running === report.messageId && !this.#isCache) this.isPaused = true;
    this.#setKnown();
    this.changed();
    void this.work();
  }

  /** Notes that the server has ended the feed, for example because a login has expired. The run goes on. */
  #takeEnd(): void {
    clearTimeout(this.#knownTimer);
    this.isKnown = false;
    this.#report = undefined;
    this.#setBegun(undefined);
    this.changed();
  }

  #setBegun(begun: Pick<Event, 'id' | 'invocationId'> | undefined): void {
    clearTimeout(this.#begunTimer);
    this.#begun = begun;
    if (begun === undefined) return;
    // A message that was stored before has no run any more.
    this.#begunTimer = backgroundTimer(() => {
      this.#begun = undefined;
      this.changed();
      void this.work();
    }, UNTOLD_MS);
  }

  protected get next(): QueuedMessage | undefined {
    const [first] = this.queue;
    if (first === undefined || this.isPaused) return undefined;
    const mayBegin = this.#isCache || first.isOfRewind === true;
    return mayBegin || (!this.isRunning && this.#againTimer === undefined) ? first : undefined;
  }

  protected answerNext(): Promise<void> {
    return this.#send(this.queue.shift()!);
  }

  /** Sends a message. Never rejects. */
  async #send(asked: QueuedMessage): Promise<void> {
    const sending: Sending = { asked, message: undefined, isCancelled: false };
    this.#sending = sending;
    this.changed();
    try {
      const stored = await this.#store(sending);
      this.#noteStored(stored, asked);
      this.#sending = undefined;
      asked.resolve(stored);
      if (sending.isCancelled) await this.#cancel(stored.id).catch(() => undefined);
    } catch (error) {
      this.#sending = undefined;
      if (sending.isCancelled) asked.reject(cancelledWhileSent(error));
      else if (isWaitingForRun(error) && asked.isOfRewind !== true) {
        this.queue.unshift(asked);
        this.#waitForOther(Math.max(AGAIN_MS, retryAfterOf(error)));
      } else {
        this.isPaused = !this.#isCache;
        asked.reject(error);
      }
    }
    this.changed();
  }

  async #store(sending: Sending): Promise<Event> {
    const { asked } = sending;
    const run = { streaming: asked.streaming };
    const store = async ({ message, isStored, expectedRevision }: AdmittedMessage) => {
      sending.message = message;
      if (isStored) return message;
      if (sending.isCancelled) throw cancelledError(' Nothing was written.');
      const config = { numRecentEvents: 0 };
      const session = await this.#service.getSession({ ...this.#key, config });
      if (session === undefined) throw sessionNotFound(this.#key.sessionId);
      const request = { session, event: message, expectedRevision, run };
      return this.#service.appendEvent(request);
    };
    return storeAdmitted<Event>(asked, store, () => false);
  }

  #noteStored(stored: Event, { callIds }: QueuedMessage): void {
    // A server without an agent stores an edited message, and no run begins.
    if (this.#agent.isThere === false || this.#report?.messageId === stored.id) return;
    this.#answered = new Set(callIds);
    this.#setBegun(stored);
  }

  /** Waits for the end of a run of which the feed has not told yet. */
  #waitForOther(milliseconds: number): void {
    this.#againTimer = backgroundTimer(() => {
      this.#againTimer = undefined;
      void this.work();
    }, milliseconds);
  }

  async #cancel(messageId: string): Promise<void> {
    const isCancelled = await this.#agent.cancel({ ...this.#key, messageId });
    if (this.#begun?.id === messageId && (this.#isCache || !isCancelled)) this.#setBegun(undefined);
    if (isCancelled) await this.#untilEnded(messageId);
    this.changed();
  }

  /** Waits until the server has told that a cancelled run has ended. */
  async #untilEnded(messageId: string): Promise<void> {
    const isRunning = (): boolean => this.#running?.messageId === messageId;
    if (!isRunning()) return;
    let stop = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      stop = this.follow(() => void (isRunning() || resolve()));
    });
    await endsWithin(CANCELLED_MS, ended);
    stop();
    if (!isRunning()) return;
    this.#setBegun(undefined);
    if (this.#report?.messageId === messageId) {
      this.#report = { ...this.#report, status: 'cancelled' };
    }
  }
}

function cancelledWhileSent(error: unknown): unknown {
  if (isSessionError(error, 'aborted')) return error;
  const message = 'The message was cancelled while it was sent. It may be stored.';
  return new SessionError('aborted', message, { cause: error });
}

const runsOfServices = new RunsOfSessions<RemoteRuns>();

/** Returns the runs of a session, which all stores of a service share. */
export function remoteRunsOf(service: SessionService, key: CompositeSessionKey): RemoteRuns {
  const core = coreOf(service)!;
  return runsOfServices.get(core, key, () => new RemoteRuns(service, key, core));
}
