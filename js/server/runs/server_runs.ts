/**
 * Runs on a server: the handler's agent answers messages that clients append with `run`. The words are those of
 * `js/service/runs`: a run, a draft, an idempotency key, an end event. In a page `SessionRuns` queues messages. Here a
 * second message is refused while the agent runs, and the feeds report the runs.
 */
import { endsWithin, TimeLimit } from '../../core/call/time_limit.js';
import type { RunUnderWay } from '../../core/history_types.js';
import type { ServerRunId, RunReport } from '../../core/run_report.js';
import { coreOf } from '../../core/core_of.js';
import type { SessionError } from '../../values/errors/errors.js';
import { invalid } from '../../values/errors/invalid.js';
import type { Event } from '../../values/model/event/event.js';
import { runMarkOf } from '../../values/model/event/metadata.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { keyText } from '../../values/model/values/ids.js';
import type { AdmittedMessage } from '../../service/runs/agent/run_storage.js';
import { endEventsOf, endRun } from '../../service/runs/agent/end_events.js';
import { newestMessage } from '../../service/runs/agent/run_status.js';
import { HttpRefusal } from '../http/responses.js';
import {
  margin,
  provesOther,
  readNewestTurn,
  runElsewhere,
  type RunElsewhere,
} from './elsewhere.js';
import { type ProcessRuns, processRunsOf } from './process_runs.js';
import { type RunSettings, ServerRun, type ServerMessage } from './server_run.js';

/** Milliseconds that a cancelled run may take to end before the next one begins. */
const END_MS = 1000;

/**
 * The runs of a handler: its own limits and agent, over the runs that all handlers of this process over one storage
 * share.
 */
export class ServerRuns {
  readonly #settings: RunSettings;
  readonly #all: ProcessRuns;
  /** Those that this handler has begun, until they end. */
  readonly #own = new Set<ServerRun>();
  #isClosing = false;

  constructor(settings: RunSettings) {
    this.#settings = settings;
    this.#all = processRunsOf(settings.service);
    // Opens the channel: a process that asks nothing has to hear the others too, to know which ones are gone.
    void this.#all.others;
  }

  /** Whether no run that this handler has begun is under way. */
  get isEmpty(): boolean {
    return this.#own.size === 0;
  }

  /** The start of the server, and the number of its last run. */
  get runId(): ServerRunId {
    return this.#all.lastId;
  }

  /** The runs under way, also at other processes. The stored events tell how the others have ended. */
  get reports(): readonly RunReport[] {
    const { reports, runs, others } = this.#all;
    const elsewhere = others?.reports.filter((report) => !runs.has(keyText(report))) ?? [];
    return [...reports, ...elsewhere];
  }

  /**
   * Calls `listener` with each run that has changed, until the returned function is called.
   *
   * @param owner see {@link ProcessRuns.follow}
   */
  follow(listener: (report: RunReport) => void, owner: StateOwner | undefined): () => void {
    return this.#all.follow(listener, owner);
  }

  /** Returns the run of this message, which may not be stored yet. */
  find(key: CompositeSessionKey, messageId: string): ServerRun | undefined {
    return this.#all.of(keyText(key)).find((run) => run.messageId === messageId);
  }

  /** Returns the run of a session, if its message is stored. Asks another process for its own. */
  async underWay(key: CompositeSessionKey): Promise<RunUnderWay | undefined> {
    const own = this.#all.runs.get(keyText(key))?.underWay;
    return own ?? this.#all.others?.underWay(key, this.#settings.agent.agentName);
  }

  /** Runs the rewinds of a session that begin a run one after the other. */
  rewinding<Result>(key: CompositeSessionKey, work: () => Promise<Result>): Promise<Result> {
    return this.#all.rewinds.run(keyText(key), work);
  }

  /** The milliseconds for which another process takes a message that is admitted now for one that runs. */
  get longestMs(): number {
    return this.#settings.maxRunMs + margin.ms;
  }

  /** Whether other processes run agents over the same storage, so far as is known. */
  get isOneOfMany(): boolean {
    const { processes, service } = this.#settings;
    if (this.#all.hasSeenOther || processes === 'many') return true;
    return processes === undefined && coreOf(service)?.hasOtherProcesses === true;
  }

  /**
   * Returns the run of the newest message, if another process has begun it and may still answer it.
   *
   * @param events the last events of a session, with the newest message
   * @param onError is told once that there is another process
   */
  elsewhere(events: readonly Event[], onError: (error: unknown) => void): RunElsewhere | undefined {
    const { lastId, startedAt } = this.#all;
    const { start } = lastId;
    if (!this.isOneOfMany && provesOther(events, { start, startedAt })) {
      this.#all.hasSeenOther = true;
      onError(otherProcess());
    }
    const { maxRunMs } = this.#settings;
    const own = { start, startedAt, maxRunMs, isOneOfMany: this.isOneOfMany };
    const run = runElsewhere(events, own, Date.now());
    return run && this.#all.others?.isGone(run.start) ? { ...run, leftMs: 0 } : run;
  }

  /** As `elsewhere`. Asks a silent process first whether it is there, for two seconds at most, and once. */
  async elsewhereNow(
    key: CompositeSessionKey,
    events: readonly Event[],
    onError: (error: unknown) => void,
  ): Promise<RunElsewhere | undefined> {
    const run = this.elsewhere(events, onError);
    const { others } = this.#all;
    if (run === undefined || run.leftMs === 0 || others === undefined) return run;
    await others.check(run, { ...key, messageId: run.message.id });
    return this.elsewhere(events, onError);
  }

  /** Whether a run of another process is over, by what that process says, or by its age if it cannot be asked. */
  async #isOver(key: CompositeSessionKey, run: RunElsewhere): Promise<boolean> {
    if (run.leftMs === 0) return true;
    const answer = await this.#all.others?.ask(run, { ...key, messageId: run.message.id });
    return answer === 'over' || answer === 'gone';
  }

  /**
   * Whether this process runs the newest message, which a rewind has stored meanwhile, or another one still runs it behind
   * its answer.
   *
   * @param messageId the message that comes
   */
  async #isRunning(
    key: CompositeSessionKey,
    events: readonly Event[],
    messageId: string,
  ): Promise<boolean> {
    const newest = newestMessage(events);
    if (newest === undefined || newest.id === messageId) return false;
    if (this.#all.isUnderWay(key, newest.id)) return true;
    const start = runMarkOf(newest)?.start;
    if (start === undefined || start === this.#all.start) return false;
    return (await this.#all.others?.goesOn(start, { ...key, messageId: newest.id })) === true;
  }

  /**
   * Begins the run of a message.
   *
   * @throws HttpRefusal 409 `agent_running` or `aborted`, 503
   */
  begin(message: ServerMessage): ServerRun {
    const admit = (mark: string): Promise<AdmittedMessage> => this.#claim(message, mark);
    return this.#begin({ ...message, admit }, this.#all.runs);
  }

  /**
   * Admits a message at the revision at which no other process runs the session. The message ends a run that another
   * process has not answered in its time.
   *
   * @throws HttpRefusal 409 `agent_running`; any error of the admission
   */
  async #claim({ key, messageId, admit, onError }: ServerMessage, mark: string) {
    if (!this.isOneOfMany) return admit(mark);
    // A run with an answer may go on, which only its process knows.
    if (await this.#all.others?.isRunning(key)) throw agentRunning();
    const { service, agent } = this.#settings;
    const { events = [], revision } = (await readNewestTurn(service, key)) ?? {};
    const found = this.elsewhere(events, onError);
    // Another process may have stored this very message: then the append finds it.
    const other = found?.message.id === messageId ? undefined : found;
    if (other !== undefined && !(await this.#isOver(key, other))) throw agentRunning();
    if (other === undefined && (await this.#isRunning(key, events, messageId))) {
      throw agentRunning();
    }
    const admitted = await admit(mark);
    const { expectedRevision = Infinity } = admitted;
    const ending = other && { message: other.message, drafts: [], agentName: agent.agentName };
    return {
      ...admitted,
      // Whatever was read later, nothing may have come between.
      expectedRevision: revision && Math.min(revision, expectedRevision),
      endEvents: ending && endEventsOf(ending, events),
    };
  }

  /**
   * Begins the run of a message that `admit` stores by a rewind. The run under way continues until then.
   *
   * @throws HttpRefusal 409 `agent_running` or `aborted`, 503
   */
  beginBehind(message: ServerMessage): ServerRun {
    const { key, admit } = message;
    const admitAlone = async (mark: string): Promise<AdmittedMessage> => {
      // A message that is being stored is undone with the others. Behind the rewind it would have a run beside this one.
      const before = this.#all.runs.get(keyText(key));
      await endsWithin(
        END_MS,
        before?.stored.catch(() => undefined),
      );
      const admitted = await admit(mark);
      // The rewind has ended the run under way if its message was known to be stored. One of several processes refuses a
      // message that is not stored yet: its claim finds that of the rewind.
      const left = this.#all.runs.get(keyText(key));
      const isRefused = left?.report === undefined && this.isOneOfMany;
      if (!isRefused) await endsWithin(END_MS, left?.stop('cancelled'));
      return admitted;
    };
    return this.#begin({ ...message, admit: admitAlone }, this.#all.successors);
  }

  #begin(message: ServerMessage, begun: Map<string, ServerRun>): ServerRun {
    const { messageId, key } = message;
    const name = keyText(key);
    const others = this.#all.of(name);
    if (this.#isClosing) throw refusal('closed', 'The server is stopping.');
    if (this.#all.isRefused(name, messageId)) {
      throw refusal('aborted', 'The message was cancelled before it came. Nothing was written.');
    }
    if (begun === this.#all.runs ? others.length > 0 : begun.has(name)) throw agentRunning();
    const ownRuns = [...this.#own].filter((run) => !run.isLost);
    const isFull = ownRuns.length >= this.#settings.maxRuns;
    if (others.length === 0 && isFull) {
      throw refusal('too_many_runs', 'Too many agents run. Try again later.');
    }
    const onChange = (run: ServerRun): void => this.#changed(name, run);
    const run = new ServerRun(this.#settings, message, this.#all, onChange);
    begun.set(name, run);
    this.#own.add(run);
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
    // Before the read: the message may come meanwhile, here and elsewhere.
    if (await this.#all.stop(key, messageId, 'cancelled')) return true;
    if (await this.#all.others?.stop(key, messageId, 'cancelled')) return true;
    if (messageId === undefined) return false;
    const { service, agent } = this.#settings;
    const { events } = await service.getEvents({ ...key, eventIds: [messageId] });
    const message = events[0]?.event;
    if (message === undefined) return false;
    this.#all.forgive(name, messageId);
    if (message.author !== 'user' || this.#all.of(name).length > 0) return false;
    const run = { key, message, drafts: [], agentName: agent.agentName };
    const endEvents = await endRun(service, { ...run, isUnanswered: true, mayEndElsewhere: true });
    return endEvents.length > 0;
  }

  /** Refuses new runs, and waits for those under way. Stops those that have not ended after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const runs = [...this.#own];
    const limit = new TimeLimit(graceMs);
    await limit.until(Promise.all(runs.map(({ ended }) => ended)));
    limit.end();
    await Promise.all(runs.map((run) => run.stop('closed')));
  }

  #changed(name: string, run: ServerRun): void {
    if (run.isOver) this.#own.delete(run);
    // Another run has begun in its place: this one took too long to end.
    if (!this.#all.of(name).includes(run)) return;
    const isSuccessor = this.#all.successors.get(name) === run;
    const { report } = run;
    if (run.isOver) (isSuccessor ? this.#all.successors : this.#all.runs).delete(name);
    // Its message is stored.
    if (isSuccessor && report !== undefined) {
      this.#all.successors.delete(name);
      if (!run.isOver) this.#all.runs.set(name, run);
    }
    if (report !== undefined) this.#all.tell(report);
    if (run.isOver) this.#all.passLater(name);
  }
}

function agentRunning(): HttpRefusal {
  const text = 'An agent answers another message of this session. Wait, or cancel it.';
  return refusal('agent_running', text);
}

/** The statuses of refused runs. A client that does not follow the feed may try again after a second. */
const REFUSED = { agent_running: 409, aborted: 409, too_many_runs: 503, closed: 503 } as const;

function otherProcess(): SessionError {
  const rule = "must be 'many': another process answers messages of this storage";
  return invalid('processes', rule);
}

function refusal(code: keyof typeof REFUSED, text: string): HttpRefusal {
  const headers = code === 'aborted' ? {} : { 'retry-after': '1' };
  return new HttpRefusal(REFUSED[code], text, headers, code);
}
