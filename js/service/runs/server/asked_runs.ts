import { type Core, coreOf, type ServerAgent } from '../../../core/core_of.js';
import type { RunReport } from '../../../core/run_report.js';
import {
  isSessionError,
  SESSION_ERROR_CODES,
  SessionError,
  sessionErrorOf,
} from '../../../values/errors/errors.js';
import { sessionNotFound } from '../../../values/errors/session_not_found.js';
import type { Event } from '../../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { sessionName } from '../../../values/model/values/session_name.js';
import type { Draft } from '../agent/drafts.js';
import type { AskedMessage, Runs } from '../runs.js';
import type { SessionRun } from '../state/session_run.js';

interface QueuedMessage extends AskedMessage {
  /** Whether a rewind stores the message. The server then cancels what runs. */
  readonly isOfRewind: boolean;
  readonly resolve: (stored: Event) => void;
  readonly reject: (error: unknown) => void;
}

/** A message that is being sent. */
interface Sending {
  readonly asked: QueuedMessage;
  /** Present once it is admitted. */
  message: Event | undefined;
  isCancelled: boolean;
}

/** The most times that a message is admitted again because the session has changed. */
const MAX_ADMISSIONS = 5;
/** Milliseconds after which a message is sent again whose session had another run. The feed mostly tells its end before. */
const AGAIN_MS = 1000;
/** The longest that a stored message counts as one that is answered before the server tells of its run, in milliseconds. */
const UNTOLD_MS = 5000;
/** The longest that nobody knows what runs although the feed is opened, in milliseconds. */
const UNKNOWN_MS = 2000;
/** The longest that a cancelled run counts as running before the server tells of its end, in milliseconds. */
const CANCELLED_MS = 2000;

/**
 * The runs of one session whose server has the agent. The server has at most one at a time, and tells it on its feed. The queue is
 * that of this realm; a cache has its outbox for that, which outlives the page.
 */
export class AskedRuns implements Runs {
  readonly #service: SessionService;
  readonly #key: CompositeSessionKey;
  readonly #agent: ServerAgent;
  /** Whether the service keeps messages until the server takes them. */
  readonly #isCache: boolean;
  readonly #queue: QueuedMessage[] = [];
  readonly #listeners = new Set<() => void>();
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
  #isPaused = false;
  #isWorking = false;
  isKnown = false;

  constructor(service: SessionService, key: CompositeSessionKey, core: Core) {
    this.#service = service;
    this.#key = key;
    this.#agent = core.serverAgent!;
    this.#isCache = core.epochs !== undefined;
  }

  get run(): SessionRun | undefined {
    const running = this.#running;
    if (running !== undefined) return { status: 'running', messageId: running.messageId };
    const first = this.#isPaused ? undefined : this.#queue[0]?.id;
    const waiting = this.#sending?.asked.id ?? this.#begun?.id ?? first;
    if (waiting !== undefined) return { status: 'queued', messageId: waiting };
    const { status, messageId, error } = this.#report ?? {};
    if (messageId === undefined || (status !== 'failed' && status !== 'cancelled'))
      return undefined;
    return { status, messageId, ...(status === 'failed' && { error: errorOf(error) }) };
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
    const asked = [...this.#queue, ...(this.#sending ? [this.#sending.asked] : [])];
    return new Set([...this.#answered, ...asked.flatMap(({ callIds }) => callIds)]);
  }

  /** What the server runs, or is about to run. */
  get #running(): Pick<RunReport, 'messageId' | 'invocationId'> | undefined {
    if (this.#report?.status === 'running') return this.#report;
    if (this.#begun === undefined || this.#isCache) return undefined;
    const { id: messageId, invocationId } = this.#begun;
    return { messageId, invocationId };
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#stopFeed === undefined) {
      this.#stopFeed = this.#agent.follow(this.#key, (report, isKnown) => {
        if (isKnown) this.#take(report);
        else this.#takeEnd();
      });
      this.#knownTimer = after(UNKNOWN_MS, () => this.#setKnown());
    }
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#stopFeed?.();
      this.#stopFeed = undefined;
      clearTimeout(this.#knownTimer);
      this.isKnown = false;
    };
  }

  ask(asked: AskedMessage): Promise<Event> {
    return this.#ask(asked, false);
  }

  /** The server cancels the run when it rewinds. */
  askAfter(asked: AskedMessage): Promise<Event> {
    return this.#ask(asked, true);
  }

  #ask(asked: AskedMessage, isOfRewind: boolean): Promise<Event> {
    return new Promise((resolve, reject) => {
      const queued = { ...asked, isOfRewind, resolve, reject };
      if (isOfRewind) this.#queue.unshift(queued);
      else this.#queue.push(queued);
      this.#resume();
    });
  }

  isQueued(messageId: string): boolean {
    return this.#queue.some(({ id }) => id === messageId);
  }

  retry(messageId: string): boolean {
    const isQueued = this.isQueued(messageId);
    if (isQueued) this.#resume();
    return isQueued;
  }

  discard(messageId: string): boolean {
    const at = this.#queue.findIndex(({ id }) => id === messageId);
    if (at < 0) return false;
    const [asked] = this.#queue.splice(at, 1);
    asked!.reject(new SessionError('aborted', 'The message was cancelled before its run.'));
    this.#changed();
    return true;
  }

  async cancel(messageId: string | undefined, message: Event | undefined): Promise<void> {
    const isMeant = (id: string | undefined): boolean =>
      id !== undefined && (messageId === undefined || id === messageId);
    const running = this.#running?.messageId;
    const sending = this.#sending;
    if (running !== undefined && isMeant(running)) return this.#cancel(running);
    if (sending !== undefined && (isMeant(sending.message?.id) || isMeant(sending.asked.id))) {
      // What the server has not got yet is cancelled when it has.
      sending.isCancelled = true;
      if (sending.message !== undefined) await this.#cancel(sending.message.id);
      return;
    }
    const waiting = this.#queue.find(({ id }) => isMeant(id));
    if (waiting !== undefined) return void this.discard(waiting.id);
    const unanswered = messageId ?? message?.id;
    if (unanswered !== undefined) await this.#cancel(unanswered);
  }

  /** The server cancels the run when it rewinds. */
  change<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }

  abandon(): void {
    for (const { id } of [...this.#queue]) this.discard(id);
    this.#setBegun(undefined);
    if (this.#report !== undefined) this.#report = { ...this.#report, status: 'ended' };
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #setKnown(): void {
    clearTimeout(this.#knownTimer);
    if (this.isKnown) return;
    this.isKnown = true;
    this.#changed();
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
    if (hasFailed && running === report.messageId && !this.#isCache) this.#isPaused = true;
    this.#setKnown();
    this.#changed();
    void this.#work();
  }

  /** Notes that the server has ended the feed, for example because a login has expired. The run goes on. */
  #takeEnd(): void {
    clearTimeout(this.#knownTimer);
    this.isKnown = false;
    this.#report = undefined;
    this.#setBegun(undefined);
    this.#changed();
  }

  #setBegun(begun: Pick<Event, 'id' | 'invocationId'> | undefined): void {
    clearTimeout(this.#begunTimer);
    this.#begun = begun;
    if (begun === undefined) return;
    // A message that was stored before has no run any more.
    this.#begunTimer = after(UNTOLD_MS, () => {
      this.#begun = undefined;
      this.#changed();
      void this.#work();
    });
  }

  #resume(): void {
    this.#isPaused = false;
    this.#changed();
    void this.#work();
  }

  /** The message whose turn it is. */
  get #next(): QueuedMessage | undefined {
    const [first] = this.#queue;
    if (first === undefined || this.#isPaused) return undefined;
    const mayBegin = this.#isCache || first.isOfRewind;
    return mayBegin || (!this.isRunning && this.#againTimer === undefined) ? first : undefined;
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#next !== undefined) await this.#send(this.#queue.shift()!);
    this.#isWorking = false;
  }

  /** Sends a message. Never rejects. */
  async #send(asked: QueuedMessage): Promise<void> {
    const sending: Sending = { asked, message: undefined, isCancelled: false };
    this.#sending = sending;
    this.#changed();
    try {
      const stored = await this.#store(sending);
      this.#noteStored(stored, asked);
      this.#sending = undefined;
      asked.resolve(stored);
      if (sending.isCancelled) await this.#cancel(stored.id).catch(() => undefined);
    } catch (error) {
      this.#sending = undefined;
      if (sending.isCancelled) {
        asked.reject(new SessionError('aborted', 'The run was cancelled. Nothing was written.'));
      } else if (isSessionError(error, 'agent_running') && !asked.isOfRewind) {
        this.#queue.unshift(asked);
        this.#waitForOther();
      } else {
        this.#isPaused = !this.#isCache;
        asked.reject(error);
      }
    }
    this.#changed();
  }

  async #store(sending: Sending): Promise<Event> {
    const { admit, streaming } = sending.asked;
    for (let admissions = 1; ; admissions += 1) {
      const { message, isStored, expectedRevision } = await admit();
      sending.message = message;
      if (isStored) return message;
      if (sending.isCancelled) throw new SessionError('aborted', 'The message was cancelled.');
      const config = { numRecentEvents: 0 };
      const session = await this.#service.getSession({ ...this.#key, config });
      if (session === undefined) throw sessionNotFound(this.#key.sessionId);
      try {
        const run = { streaming };
        const request = { session, event: message, expectedRevision, run };
        return await this.#service.appendEvent(request);
      } catch (error) {
        const isOther = isSessionError(error, 'stale_session') && expectedRevision !== undefined;
        if (!isOther || admissions >= MAX_ADMISSIONS) throw error;
      }
    }
  }

  #noteStored(stored: Event, { callIds }: QueuedMessage): void {
    // An edited message is only stored if the server has no agent.
    if (this.#agent.isThere === false || this.#report?.messageId === stored.id) return;
    this.#answered = new Set(callIds);
    this.#setBegun(stored);
  }

  /** Waits for the end of a run of which the feed has not told yet. */
  #waitForOther(): void {
    this.#againTimer = after(AGAIN_MS, () => {
      this.#againTimer = undefined;
      void this.#work();
    });
  }

  async #cancel(messageId: string): Promise<void> {
    const isCancelled = await this.#agent.cancel({ ...this.#key, messageId });
    if (this.#begun?.id === messageId && (this.#isCache || !isCancelled)) this.#setBegun(undefined);
    if (isCancelled) await this.#over(messageId);
    this.#changed();
  }

  /** Waits until the server has told that a cancelled run has ended. */
  async #over(messageId: string): Promise<void> {
    const isRunning = (): boolean => this.#running?.messageId === messageId;
    if (!isRunning()) return;
    let stop = (): void => undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CANCELLED_MS);
      stop = this.follow(() => void (isRunning() || resolve()));
    });
    clearTimeout(timer);
    stop();
    if (!isRunning()) return;
    this.#setBegun(undefined);
    if (this.#report?.messageId === messageId) {
      this.#report = { ...this.#report, status: 'cancelled' };
    }
  }
}

function errorOf(told: RunReport['error']): SessionError {
  const { code, message = 'The agent failed.' } = told ?? {};
  return sessionErrorOf(
    SESSION_ERROR_CODES.find((known) => known === code) ?? 'run_failed',
    message,
  );
}

/** Starts a timer that does not keep a program of Node running. */
function after(milliseconds: number, work: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, milliseconds);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** The runs of the sessions of each service, by the session. */
const runsOfServices = new WeakMap<object, Map<string, AskedRuns>>();

/** Returns the runs of a session, which all stores of a service share. */
export function askedRunsOf(service: SessionService, key: CompositeSessionKey): AskedRuns {
  const core = coreOf(service)!;
  const known = runsOfServices.get(core) ?? new Map<string, AskedRuns>();
  runsOfServices.set(core, known);
  const name = sessionName(key);
  const runs = known.get(name) ?? new AskedRuns(service, key, core);
  known.set(name, runs);
  return runs;
}
