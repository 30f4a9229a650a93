/**
 * Runs on a server: the handler's agent answers messages that clients append with `run`. The words are those of
 * `js/service/runs`: a run, a draft, an idempotency key, an end event. In a page `SessionRuns` queues messages. Here a
 * second message is refused while the agent runs, and the feeds report the runs.
 */
import { KeyedQueue } from '../../core/call/scheduling.js';
import { endsWithin, TimeLimit } from '../../core/call/time_limit.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { ServerRunId, RunReport } from '../../core/run_report.js';
import { isSessionError } from '../../values/errors/errors.js';
import { putLast } from '../../values/bounded_map.js';
import { newEventId } from '../../values/model/event/create_event.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText } from '../../values/model/values/ids.js';
import { LocalRun, type RunEnd, type StopReason } from '../../service/runs/agent/local_run.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import type { AdmittedMessage } from '../../service/runs/agent/run_storage.js';
import { endRun } from '../../service/runs/agent/end_events.js';
import {
  isReportedByEvent,
  type PublicError,
  publicErrorOf,
} from '../../values/errors/public_error.js';
import { HttpRefusal } from '../http/responses.js';

/** The most messages that are refused because they were cancelled before they came. */
const MAX_CANCELLED = 1000;
/** Milliseconds for which a message is refused that was cancelled before it came. */
const CANCELLED_MS = 30_000;
/** Milliseconds that a cancelled run may take to end before the next one begins. */
const END_MS = 1000;

/** Why a run has no whole answer, as clients may know it. */
export type RunFailure = PublicError;

/** What the runs of a server work with. */
export interface RunSettings {
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly maxRuns: number;
  /** Milliseconds after which a run is cancelled. */
  readonly maxRunMs: number;
  readonly waitUntil: ((running: Promise<unknown>) => void) | undefined;
}

/** A message that the agent is to answer. */
export interface ServerMessage {
  readonly key: CompositeSessionKey;
  readonly messageId: string;
  readonly streaming: boolean;
  /** Prepares the message by the rights of its request, again if others have changed the session. */
  readonly admit: () => Promise<AdmittedMessage>;
  /** Gets what the agent throws, and what fails in the run. */
  readonly onError: (error: unknown) => void;
  /** Called with each partial event of an answer, and with each whole event, once it is stored. */
  readonly onEvent?: (event: Event) => void;
}

/** What a client is told of a run that was stopped. A run that took too long has an error with its limit. */
const STOPPED: Readonly<Partial<Record<StopReason, RunFailure>>> = {
  cancelled: { code: 'aborted', message: 'The run was cancelled.' },
  closed: { code: 'closed', message: 'The server has stopped during the run.' },
  deleted: { code: 'not_found', message: 'The session was deleted during the run.' },
};

/**
 * The run of a message on the server. It belongs to its session, and goes on when the request that began it has ended.
 */
export class ServerRun {
  readonly messageId: string;
  /**
   * Resolves with a failure if the agent threw or was stopped; else with `undefined`, even if its last event is an
   * error.
   */
  readonly ended: Promise<RunFailure | undefined>;
  readonly #run: LocalRun;
  readonly #asked: ServerMessage;
  readonly #count: () => ServerRunId;
  #runId: ServerRunId | undefined;

  /**
   * @param count draws the id of a run
   * @param onChange called after each change of the run
   */
  constructor(
    { service, agent, maxRunMs }: RunSettings,
    asked: ServerMessage,
    count: () => ServerRunId,
    onChange: (run: ServerRun) => void,
  ) {
    this.messageId = asked.messageId;
    this.#asked = asked;
    this.#count = count;
    this.#run = new LocalRun({
      ...asked,
      service,
      agent,
      maxRunMs,
      onChange: () => onChange(this),
    });
    this.ended = this.#run.ended.then((end) => this.#failureOf(end));
  }

  /** Resolves with the message once it is stored. Rejects if the run ends before. */
  get stored(): Promise<Event> {
    return this.#run.stored;
  }

  get isOver(): boolean {
    return this.#run.isOver;
  }

  get underWay(): RunUnderWay | undefined {
    return this.#run.underWay;
  }

  /** Which run of the server it is, once its message is stored. */
  get runId(): ServerRunId | undefined {
    if (this.#run.report === undefined) return undefined;
    return (this.#runId ??= this.#count());
  }

  /** The run as it is now. `undefined` until its message is stored. */
  get report(): RunReport | undefined {
    const { report } = this.#run;
    if (report === undefined) return undefined;
    const { appName, userId, sessionId } = this.#asked.key;
    const { error, ...run } = report;
    const told = error === undefined ? undefined : publicErrorOf(error);
    const number = this.runId!.number;
    return { appName, userId, sessionId, number, ...run, ...(told && { error: told }) };
  }

  /** Stops the run, and waits until it has ended. */
  stop(reason: StopReason): Promise<void> {
    return this.#run.stop(reason);
  }

  #failureOf({ status, error, reason }: RunEnd): RunFailure | undefined {
    // Nothing was thrown, and clients get the event that reports it.
    if (isReportedByEvent(error)) return undefined;
    // What refused the message goes to its client, except for what the agent or a plugin threw.
    const isOperators =
      status === 'refused' ? isSessionError(error, 'run_failed') : error !== undefined;
    if (isOperators) this.#asked.onError(error);
    if (error !== undefined) return publicErrorOf(error);
    return reason === undefined && status === 'ended' ? undefined : STOPPED[reason ?? 'cancelled'];
  }
}

/** The runs of a server, at most one in each session. */
export class ServerRuns {
  readonly #settings: RunSettings;
  /** By session, from before the message is stored until the end. */
  readonly #runs = new Map<string, ServerRun>();
  /** By session: the run of a message that a rewind is about to store, until it is stored or refused. */
  readonly #successors = new Map<string, ServerRun>();
  /** The rewinds of each session that begin a run. */
  readonly #rewinds = new KeyedQueue();
  /** By session and message: when a message was cancelled that the server does not know. */
  readonly #cancelled = new Map<string, number>();
  readonly #listeners = new Set<(report: RunReport) => void>();
  /** Another start of the server has other runs. */
  readonly #start = newEventId();
  #count = 0;
  #isClosing = false;

  constructor(settings: RunSettings) {
    this.#settings = settings;
  }

  get isEmpty(): boolean {
    return this.#runs.size + this.#successors.size === 0;
  }

  /** The start of the server, and the number of its last run. */
  get runId(): ServerRunId {
    return { start: this.#start, number: this.#count };
  }

  /** The runs under way. The stored events tell how the others have ended. */
  get reports(): readonly RunReport[] {
    return [...this.#runs.values()].flatMap(({ report }) => report ?? []);
  }

  /** Calls `listener` with each run that has changed, until the returned function is called. */
  follow(listener: (report: RunReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the run of this message, which may not be stored yet. */
  find(key: CompositeSessionKey, messageId: string): ServerRun | undefined {
    return this.#of(keyText(key)).find((run) => run.messageId === messageId);
  }

  /** Returns the run of a session, if its message is stored. */
  underWay(key: CompositeSessionKey): RunUnderWay | undefined {
    return this.#runs.get(keyText(key))?.underWay;
  }

  /** Runs the rewinds of a session that begin a run one after the other. */
  rewinding<Result>(key: CompositeSessionKey, work: () => Promise<Result>): Promise<Result> {
    return this.#rewinds.run(keyText(key), work);
  }

  /**
   * Begins the run of a message.
   *
   * @throws HttpRefusal 409 `agent_running` or `aborted`, 503
   */
  begin(message: ServerMessage): ServerRun {
    return this.#begin(message, this.#runs);
  }

  /**
   * Begins the run of a message that `admit` stores by a rewind. The run under way continues until then.
   *
   * @throws HttpRefusal 409 `agent_running` or `aborted`, 503
   */
  beginBehind(message: ServerMessage): ServerRun {
    const { key, admit } = message;
    const admitAlone = async (): Promise<AdmittedMessage> => {
      const admitted = await admit();
      // The rewind has ended the run before, if this process knew that its message is stored.
      await endsWithin(END_MS, this.#runs.get(keyText(key))?.stop('cancelled'));
      return admitted;
    };
    return this.#begin({ ...message, admit: admitAlone }, this.#successors);
  }

  #begin(message: ServerMessage, begun: Map<string, ServerRun>): ServerRun {
    const { messageId, key } = message;
    const name = keyText(key);
    const others = this.#of(name);
    if (this.#isClosing) throw refusal('closed', 'The server is stopping.');
    if (this.#isCancelled(name, messageId)) {
      throw refusal('aborted', 'The message was cancelled before it came. Nothing was written.');
    }
    if (begun === this.#runs ? others.length > 0 : begun.has(name)) {
      const text = 'An agent answers another message of this session. Wait, or cancel it.';
      throw refusal('agent_running', text);
    }
    const isFull = this.#runs.size + this.#successors.size >= this.#settings.maxRuns;
    if (others.length === 0 && isFull) {
      throw refusal('too_many_runs', 'Too many agents run. Try again later.');
    }
    const count = (): ServerRunId => ({ start: this.#start, number: (this.#count += 1) });
    const run = new ServerRun(this.#settings, message, count, (run) => this.#changed(name, run));
    begun.set(name, run);
    const { waitUntil } = this.#settings;
    // What it throws, also later, holds up no run.
    new Promise((resolve) => resolve(waitUntil?.(run.ended))).catch(message.onError);
    return run;
  }

  /**
   * Cancels the run of a session, or stores the end event of a message that has no run and no answer. A message that
   * the server does not know is refused if it comes within 30 seconds.
   *
   * @param messageId the message to cancel; absent: any
   * @returns whether anything was cancelled
   */
  async cancel(key: CompositeSessionKey, messageId: string | undefined): Promise<boolean> {
    const name = keyText(key);
    const isMeant = (run: ServerRun): boolean =>
      messageId === undefined || run.messageId === messageId;
    const meant = this.#of(name).filter(isMeant);
    await Promise.all(meant.map((run) => run.stop('cancelled')));
    if (meant.length > 0 || messageId === undefined) return meant.length > 0;
    // Before the read: the message may come meanwhile.
    putLast(this.#cancelled, runName(name, messageId), Date.now(), MAX_CANCELLED);
    const { service, agent } = this.#settings;
    const { events } = await service.getEvents({ ...key, eventIds: [messageId] });
    const message = events[0]?.event;
    if (message === undefined) return false;
    this.#cancelled.delete(runName(name, messageId));
    if (message.author !== 'user' || this.#of(name).length > 0) return false;
    const run = { key, message, drafts: [], agentName: agent.agentName, isUnanswered: true };
    return (await endRun(service, run)).length > 0;
  }

  /** Refuses new runs, and waits for those under way. Stops those that have not ended after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const runs = [...this.#runs.values(), ...this.#successors.values()];
    const limit = new TimeLimit(graceMs);
    await limit.until(Promise.all(runs.map(({ ended }) => ended)));
    limit.end();
    await Promise.all(runs.map((run) => run.stop('closed')));
  }

  #isCancelled(name: string, messageId: string): boolean {
    const at = this.#cancelled.get(runName(name, messageId));
    return at !== undefined && Date.now() - at < CANCELLED_MS;
  }

  /** Returns the run of a session, and the one that is to follow it. */
  #of(name: string): ServerRun[] {
    return [this.#runs, this.#successors].flatMap((runs) => runs.get(name) ?? []);
  }

  #changed(name: string, run: ServerRun): void {
    // Another run has begun in its place: this one took too long to end.
    if (!this.#of(name).includes(run)) return;
    const isSuccessor = this.#successors.get(name) === run;
    const { report } = run;
    if (run.isOver) (isSuccessor ? this.#successors : this.#runs).delete(name);
    if (report === undefined) return;
    // Its message is stored.
    if (isSuccessor) this.#successors.delete(name);
    if (isSuccessor && !run.isOver) this.#runs.set(name, run);
    this.#tell(report);
  }

  #tell(report: RunReport): void {
    for (const listener of [...this.#listeners]) listener(report);
  }
}

function runName(name: string, messageId: string): string {
  return JSON.stringify([name, messageId]);
}

/** The statuses of refused runs. A client that does not follow the feed may try again after a second. */
const REFUSED = { agent_running: 409, aborted: 409, too_many_runs: 503, closed: 503 } as const;

function refusal(code: keyof typeof REFUSED, text: string): HttpRefusal {
  const headers = code === 'aborted' ? {} : { 'retry-after': '1' };
  return new HttpRefusal(REFUSED[code], text, headers, code);
}
