/**
 * Runs on a server: the handler's agent answers messages that clients append with `run`. The words are those of
 * `js/service/runs`: a run, a draft, a claim, a seal. Two things differ. In a page `SessionRuns` queues messages and shares
 * its run with other tabs; here a second message is refused while the agent runs. And here the feeds report the runs.
 */
import { TimeLimit } from '../../core/call/time_limit.js';
import type { RunReport } from '../../core/run_report.js';
import { SessionError } from '../../values/errors/errors.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import { sealRun } from '../../service/runs/state/cancelled.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { EndedReports } from './ended_reports.js';
import { type RunSettings, type ServerMessage, ServerRun } from './server_run.js';
import { sessionName } from '../../values/model/values/session_name.js';

/** The runs of a server, at most one in each session. */
export class ServerRuns {
  readonly #settings: RunSettings;
  /** By session, from before the claim until the end. */
  readonly #runs = new Map<string, ServerRun>();
  readonly #ended: EndedReports;
  readonly #listeners = new Set<(report: RunReport) => void>();
  #isClosing = false;

  constructor(settings: RunSettings) {
    this.#settings = settings;
    // Clients that have not read the report yet get none of its texts.
    this.#ended = new EndedReports(settings.service, (report) =>
      this.#tell({ ...report, status: 'ended', drafts: [], wholes: [] }),
    );
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  /** The runs under way, and of each other session the last one that failed or was cancelled, until its next message. */
  get reports(): readonly RunReport[] {
    const running = [...this.#runs.values()].flatMap(({ report }) => report ?? []);
    return [...this.#ended.all, ...running];
  }

  /** Calls `listener` with each run that has changed, until the returned function is called. */
  follow(listener: (report: RunReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the run of this message, which may not be stored yet. */
  find(key: CompositeSessionKey, messageId: string): ServerRun | undefined {
    const running = this.#runs.get(sessionName(key));
    return running?.messageId === messageId ? running : undefined;
  }

  /**
   * Reserves a session for the run of a message, until the run has ended or is given up.
   *
   * @throws SessionError `agent_running`; HttpRefusal 503
   */
  reserve(message: ServerMessage): ServerRun {
    const name = sessionName(message.key);
    if (this.#isClosing) {
      throw new HttpRefusal(503, 'The server is stopping.', { 'retry-after': '1' }, 'closed');
    }
    if (this.#runs.has(name)) {
      const text = 'An agent answers another message of this session. Wait, or cancel it.';
      throw new SessionError('agent_running', text);
    }
    if (this.#runs.size >= this.#settings.maxRuns) {
      const text = 'Too many agents run. Try again later.';
      throw new HttpRefusal(503, text, { 'retry-after': '1' }, 'too_many_runs');
    }
    const run: ServerRun = new ServerRun(this.#settings, message, () => this.#changed(name, run));
    this.#runs.set(name, run);
    const { waitUntil } = this.#settings;
    // What it throws, also later, holds up no run.
    new Promise((resolve) => resolve(waitUntil?.(run.ended))).catch(message.onError);
    return run;
  }

  /**
   * Cancels the run of a session, or seals a message that has no run and no answer.
   *
   * @param messageId the message to cancel; absent: any
   * @returns whether anything was cancelled
   */
  async cancel(key: CompositeSessionKey, messageId: string | undefined): Promise<boolean> {
    const running = this.#runs.get(sessionName(key));
    if (running !== undefined) {
      if (messageId !== undefined && running.messageId !== messageId) return false;
      await running.stop('cancelled');
      return true;
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
    const runs = [...this.#runs.values()];
    const limit = new TimeLimit(graceMs);
    await limit.until(Promise.all(runs.map(({ ended }) => ended)));
    limit.end();
    await Promise.all(runs.map((run) => run.stop('closed')));
    this.#ended.clear();
  }

  #changed(name: string, run: ServerRun): void {
    if (run.isOver) this.#runs.delete(name);
    const { report } = run;
    if (report === undefined) return;
    const { status } = report;
    if (status === 'running') this.#ended.delete(name);
    this.#tell(report);
    if (status === 'failed' || status === 'cancelled') this.#ended.put(report);
  }

  #tell(report: RunReport): void {
    for (const listener of [...this.#listeners]) listener(report);
  }
}
