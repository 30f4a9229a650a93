/**
 * Runs on a server: the handler's agent answers messages that clients append with `run`. The words are those of
 * `js/service/runs`: a run, a draft, a claim, a seal. Two things differ. In a page `SessionRuns` queues messages and shares
 * its run with other tabs; here a second message is refused while the agent runs. And here the feeds report the runs.
 */
import { KeyedQueue } from '../../core/call/keyed_queue.js';
import { endsWithin, TimeLimit } from '../../core/call/time_limit.js';
import type { RunUnderWay } from '../../core/history/append_rewind.js';
import type { RunReport } from '../../core/run_report.js';
import { SessionError } from '../../values/errors/errors.js';
import { putLast } from '../../values/members/bounded_map.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { sealRun } from '../../service/runs/state/cancelled.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { type RunSettings, type ServerMessage, ServerRun } from './server_run.js';
import { sessionName } from '../../values/model/values/session_name.js';

/** The most sessions whose last failed or cancelled run is kept. */
const MAX_ENDED = 1000;

/** Milliseconds that a cancelled run may take to end before the next one begins. */
const END_MS = 1000;

/** The runs of a server, at most one in each session. */
export class ServerRuns {
  readonly #settings: RunSettings;
  /** By session, from before the claim until the end. */
  readonly #runs = new Map<string, ServerRun>();
  /** By session: the run of a message that a rewind is about to store, until the run begins or is given up. */
  readonly #successors = new Map<string, ServerRun>();
  /** The rewinds of each session that begin a run. */
  readonly #rewinds = new KeyedQueue();
  /** By session: how the last run ended, if it failed or was cancelled. */
  readonly #ended = new Map<string, RunReport>();
  readonly #listeners = new Set<(report: RunReport) => void>();
  #isClosing = false;

  constructor(settings: RunSettings) {
    this.#settings = settings;
  }

  get isEmpty(): boolean {
    return this.#runs.size + this.#successors.size === 0;
  }

  /** The runs under way, and of each other session the last one that failed or was cancelled, until its next message. */
  get reports(): readonly RunReport[] {
    const running = [...this.#runs.values()].flatMap(({ report }) => report ?? []);
    return [...this.#ended.values(), ...running];
  }

  /** Calls `listener` with each run that has changed, until the returned function is called. */
  follow(listener: (report: RunReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the run of this message, which may not be stored yet. */
  find(key: CompositeSessionKey, messageId: string): ServerRun | undefined {
    return this.#of(sessionName(key)).find((run) => run.messageId === messageId);
  }

  /** Returns the run of a session, if its message is stored. */
  underWay(key: CompositeSessionKey): RunUnderWay | undefined {
    return this.#runs.get(sessionName(key))?.underWay;
  }

  /** Runs the rewinds of a session that begin a run one after the other. */
  rewinding<Result>(key: CompositeSessionKey, work: () => Promise<Result>): Promise<Result> {
    return this.#rewinds.run(sessionName(key), work);
  }

  /**
   * Reserves a session for the run of a message, until the run has ended or is given up.
   *
   * @throws SessionError `agent_running`; HttpRefusal 503
   */
  reserve(message: ServerMessage): ServerRun {
    return this.#reserve(message, this.#runs);
  }

  /**
   * Reserves a session for the run of a message that a rewind is about to store. The run under way continues until the
   * rewind is stored.
   *
   * @throws SessionError `agent_running`; HttpRefusal 503
   */
  reserveBehind(message: ServerMessage): ServerRun {
    return this.#reserve(message, this.#successors);
  }

  #reserve(message: ServerMessage, reserved: Map<string, ServerRun>): ServerRun {
    const name = sessionName(message.key);
    const others = this.#of(name);
    if (this.#isClosing) {
      throw new HttpRefusal(503, 'The server is stopping.', { 'retry-after': '1' }, 'closed');
    }
    if (reserved === this.#runs ? others.length > 0 : reserved.has(name)) {
      const text = 'An agent answers another message of this session. Wait, or cancel it.';
      throw new SessionError('agent_running', text);
    }
    const count = this.#runs.size + this.#successors.size;
    if (others.length === 0 && count >= this.#settings.maxRuns) {
      const text = 'Too many agents run. Try again later.';
      throw new HttpRefusal(503, text, { 'retry-after': '10' }, 'too_many_runs');
    }
    const run: ServerRun = new ServerRun(this.#settings, message, () => this.#changed(name, run));
    reserved.set(name, run);
    this.#settings.waitUntil?.(run.ended);
    return run;
  }

  /** Cancels the run before a reserved one, if the rewind has not ended it. Nobody waits longer than a second. */
  async endBefore(key: CompositeSessionKey): Promise<void> {
    await endsWithin(END_MS, this.#runs.get(sessionName(key))?.stop('cancelled'));
  }

  /**
   * Cancels the run of a session, or seals a message that has no run and no answer.
   *
   * @param messageId the message to cancel; absent: any
   * @returns whether anything was cancelled
   */
  async cancel(key: CompositeSessionKey, messageId: string | undefined): Promise<boolean> {
    const runs = this.#of(sessionName(key));
    if (runs.length > 0) {
      const meant = runs.filter((run) => messageId === undefined || run.messageId === messageId);
      await Promise.all(meant.map((run) => run.stop('cancelled')));
      return meant.length > 0;
    }
    if (messageId === undefined) return false;
    const { service, agent } = this.#settings;
    const { events } = await service.getEvents({ ...key, eventIds: [messageId] });
    const message = events[0]?.event;
    if (message?.author !== 'user') return false;
    const run = { key, message, drafts: [], agentName: agent.agentName, isUnanswered: true };
    return (await sealRun(service, run)).length > 0;
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

  /** Returns the run of a session, and the one that is reserved behind it. */
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
    const { status } = report;
    if (status === 'running') this.#ended.delete(name);
    if (status === 'failed' || status === 'cancelled') {
      putLast(this.#ended, name, report, MAX_ENDED);
    }
    for (const listener of [...this.#listeners]) listener(report);
  }
}
