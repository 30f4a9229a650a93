/**
 * Runs on a server: the handler's agent answers messages that clients append with `run`. The words are those of
 * `js/service/runs`: a run, a draft, a claim, a seal. Two things differ. In a page `SessionRuns` queues messages and shares
 * its run with other tabs; here a second message is refused while the agent runs. And here the feeds report the runs.
 */
import { TimeLimit } from '../../core/call/time_limit.js';
import type { RunReport } from '../../core/run_report.js';
import { SessionError } from '../../values/errors/errors.js';
import { putLast } from '../../values/members/bounded_map.js';
import type { Event } from '../../values/model/event/event.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { RunAgent } from '../../service/runs/agent/run_context.js';
import type { AdmittedMessage } from '../../service/runs/runs.js';
import { sealRun } from '../../service/runs/state/cancelled.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { type RunOutput, ServerRun } from './server_run.js';
import { sessionName } from '../../values/model/values/session_name.js';

/** The most sessions whose last failed or cancelled run is kept. */
const MAX_ENDED = 1000;

/** What the runs of a server work with. */
export interface ServerRunsParts {
  readonly service: SessionService;
  readonly agent: RunAgent;
  readonly maxRuns: number;
  readonly maxRunMs: number;
  readonly waitUntil: ((running: Promise<unknown>) => void) | undefined;
}

/** A message that the agent is to answer. */
export interface ServerMessage {
  readonly key: CompositeSessionKey;
  readonly messageId: string;
  readonly streaming: boolean;
  /** Gets what the agent throws. */
  readonly onError: (error: unknown) => void;
  /** Gets what the run yields. A call that joins a run gets nothing. */
  readonly listener?: RunOutput;
}

/** The runs of a server, at most one in each session. */
export class ServerRuns {
  readonly #parts: ServerRunsParts;
  /** By session, from before the claim until the end. */
  readonly #runs = new Map<string, { readonly run: ServerRun; readonly stored: Promise<Event> }>();
  /** By session: how the last run ended, if it failed or was cancelled. */
  readonly #ended = new Map<string, RunReport>();
  readonly #listeners = new Set<(report: RunReport) => void>();
  #isClosing = false;

  constructor(parts: ServerRunsParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  /** The runs under way, and of each other session the last one that failed or was cancelled, until its next message. */
  get reports(): readonly RunReport[] {
    const running = [...this.#runs.values()].flatMap(({ run }) => run.report ?? []);
    return [...this.#ended.values(), ...running];
  }

  /** Calls `listener` with each run that has changed, until the returned function is called. */
  follow(listener: (report: RunReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the agent answers this message now. */
  isAnswering(key: CompositeSessionKey, messageId: string): boolean {
    return this.#runs.get(sessionName(key))?.run.messageId === messageId;
  }

  /**
   * Lets the agent answer a message. If it answers this message already, the call joins that run.
   *
   * @param admit decides by the client's rights, and passes the message to `begin`; again if others have changed the session
   * @returns the message, once it is stored
   * @throws SessionError `agent_running`; HttpRefusal 503; the errors of `admit` and of `begin`
   */
  async ask(
    message: ServerMessage,
    admit: (begin: (admitted: AdmittedMessage) => Promise<Event>) => Promise<Event>,
  ): Promise<Event> {
    const name = sessionName(message.key);
    const running = this.#runs.get(name);
    if (running?.run.messageId === message.messageId) return running.stored;
    this.#requireRoom(running !== undefined);
    const { maxRunMs, waitUntil, service, agent } = this.#parts;
    const run: ServerRun = new ServerRun({
      ...{ listener: undefined, ...message, service, agent, maxRunMs },
      onChange: () => this.#changed(name, run),
    });
    const before = this.#ended.get(name);
    // It begins in a later task: until then the run is in the map.
    const stored = Promise.resolve().then(() => admit((admitted) => run.begin(admitted)));
    this.#runs.set(name, { run, stored });
    this.#ended.delete(name);
    waitUntil?.(run.ended);
    try {
      return await stored;
    } catch (error) {
      this.#remove(name, run);
      if (before !== undefined) this.#ended.set(name, before);
      run.giveUp();
      throw error;
    }
  }

  /**
   * Cancels the run of a session, or seals a message that has no run and no answer.
   *
   * @param messageId the message to cancel; absent: any
   * @returns whether anything was cancelled
   */
  async cancel(key: CompositeSessionKey, messageId: string | undefined): Promise<boolean> {
    const running = this.#runs.get(sessionName(key))?.run;
    if (running !== undefined) {
      if (messageId !== undefined && running.messageId !== messageId) return false;
      await running.stop('cancelled');
      return true;
    }
    if (messageId === undefined) return false;
    const { service, agent } = this.#parts;
    const { events } = await service.getEvents({ ...key, eventIds: [messageId] });
    const message = events[0]?.event;
    if (message?.author !== 'user') return false;
    const run = { key, message, drafts: [], agentName: agent.agentName, isUnanswered: true };
    return (await sealRun(service, run)).length > 0;
  }

  /** Refuses new runs, and waits for those under way. Stops those that have not ended after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const runs = [...this.#runs.values()].map(({ run }) => run);
    const limit = new TimeLimit(graceMs);
    await limit.until(Promise.all(runs.map(({ ended }) => ended)));
    limit.end();
    await Promise.all(runs.map((run) => run.stop('closed')));
  }

  /** @throws SessionError `agent_running`; HttpRefusal 503 */
  #requireRoom(isRunning: boolean): void {
    if (this.#isClosing) {
      throw new HttpRefusal(503, 'The server is stopping.', { 'retry-after': '1' }, 'closed');
    }
    if (isRunning) {
      const text = 'An agent answers another message of this session. Wait, or cancel it.';
      throw new SessionError('agent_running', text);
    }
    if (this.#runs.size >= this.#parts.maxRuns) {
      const text = 'Too many agents run. Try again later.';
      throw new HttpRefusal(503, text, { 'retry-after': '10' }, 'too_many_runs');
    }
  }

  #changed(name: string, run: ServerRun): void {
    const { report } = run;
    if (report === undefined) return;
    const { status } = report;
    if (status !== 'running') this.#remove(name, run);
    if (status === 'failed' || status === 'cancelled') {
      putLast(this.#ended, name, report, MAX_ENDED);
    }
    for (const listener of [...this.#listeners]) listener(report);
  }

  #remove(name: string, run: ServerRun): void {
    if (this.#runs.get(name)?.run === run) this.#runs.delete(name);
  }
}
