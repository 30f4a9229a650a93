import { coreOf } from '../../core/core_of.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import type { RunReport, ServerRunId } from '../../core/run_report.js';
import type { StateOwner } from '../../core/storage/scopes.js';
import type { ProcessLink } from '../../core/watch/process_link.js';
import { putLast } from '../../values/bounded_map.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { textOfMark } from '../../values/model/event/metadata.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText } from '../../values/model/values/ids.js';
import type { ServiceCore } from '../../service/service_core.js';
import { type OpenFeeds, OtherProcesses, type OwnRuns } from './other_processes.js';
import type { ServerRun } from './server_run.js';

/** The most messages that are refused because they were cancelled before they came. */
const MAX_CANCELLED = 1000;
/** Milliseconds for which a message is refused that was cancelled before it came. */
const CANCELLED_MS = 30_000;

/**
 * The runs of this process over one storage, at most one in each session. All handlers over services of that storage
 * share them.
 */
export class ProcessRuns implements OwnRuns {
  /** By session, from before the message is stored until the end. */
  readonly runs = new Map<string, ServerRun>();
  /** By session: the run of a message that a rewind is about to store, until it is stored or refused. */
  readonly successors = new Map<string, ServerRun>();
  /** The rewinds of each session that begin a run. */
  readonly rewinds = new KeyedQueue();
  /** By session and message: when a message was cancelled that the server does not know. */
  readonly #cancelled = new Map<string, number>();
  readonly #listeners = new Set<(report: RunReport) => void>();
  /** Another start of the server has other runs. */
  readonly start = newEventId();
  /** When this start began: the time from which no earlier process begins a run any more. */
  readonly startedAt = Date.now();
  /** Whether a message has proved that other processes run agents too. */
  hasSeenOther = false;
  readonly #feeds: OpenFeeds = new Map();
  /** The channels that connect other processes: one for each service that has any. */
  readonly #links = new Set<ProcessLink>();
  #others: OtherProcesses | undefined;
  #count = 0;
  #admitted = 0;

  /** Takes a channel that connects other processes, and uses it if there is no other one. */
  join(link: ProcessLink): void {
    if (this.#links.has(link)) return;
    this.#links.add(link);
    link.onRelease(() => this.#leave(link));
  }

  /** Goes on with the next channel, if there is one. Otherwise tells the others that the runs of this process are over. */
  #leave(link: ProcessLink): void {
    const [used] = this.#links;
    this.#links.delete(link);
    if (used !== link) return;
    if (this.#links.size === 0) this.#others?.tellClosed();
    this.#others = undefined;
    void this.others;
  }

  /** The other processes. Absent: no channel is in use. */
  get others(): OtherProcesses | undefined {
    const [link] = this.#links;
    if (link === undefined) return undefined;
    if (this.#others === undefined) {
      this.#others = new OtherProcesses(link, this, this.#feeds);
      // It hears also of processes that it asks nothing.
      this.#others.open();
    }
    return this.#others;
  }

  /** The start of the server, and the number of its last run. */
  get lastId(): ServerRunId {
    return { start: this.start, number: this.#count };
  }

  /** Draws the id of a run whose message is stored. */
  count(): ServerRunId {
    this.#count += 1;
    return this.lastId;
  }

  /** Draws the mark of a message that is admitted now. */
  newMark(): string {
    this.#admitted += 1;
    const hasChannel = this.others !== undefined;
    return textOfMark({ start: this.start, number: this.#admitted, began: Date.now(), hasChannel });
  }

  /** Returns the run of a session, and the one that is to follow it. */
  of(name: string): ServerRun[] {
    this.#dropLost(name);
    return [this.runs, this.successors].flatMap((runs) => runs.get(name) ?? []);
  }

  /** Drops runs that the host has ended without a word, as a Worker does some time after its response. */
  #dropLost(name: string): void {
    for (const runs of [this.runs, this.successors]) {
      if (runs.get(name)?.isLost === true) runs.delete(name);
    }
  }

  get reports(): readonly RunReport[] {
    return [...this.runs.values()].flatMap(({ report }) => report ?? []);
  }

  /**
   * Calls `listener` with each run that has changed, until the returned function is called.
   *
   * @param owner whose runs a feed tells: other processes then tell their drafts. Absent: they tell none for this listener
   */
  follow(listener: (report: RunReport) => void, owner: StateOwner | undefined): () => void {
    this.#listeners.add(listener);
    const stop = owner && this.others?.follow(owner);
    return () => {
      this.#listeners.delete(listener);
      stop?.();
    };
  }

  /** Tells a run of this process. */
  tell(report: RunReport): void {
    this.others?.note(report);
    this.#tellListeners(report);
  }

  pass(report: RunReport): void {
    if (!this.runs.has(keyText(report))) this.#tellListeners(report);
  }

  /** Tells the run of another process that `pass` has left out while this process had a run of the session. */
  passLater(name: string): void {
    for (const report of this.others?.reports ?? [])
      if (keyText(report) === name) this.pass(report);
  }

  #tellListeners(report: RunReport): void {
    for (const listener of [...this.#listeners]) listener(report);
  }

  isUnderWay(key: CompositeSessionKey, messageId: string): boolean {
    return this.of(keyText(key)).some((run) => run.messageId === messageId);
  }

  async stop(
    key: CompositeSessionKey,
    messageId: string | undefined,
    reason: 'cancelled' | 'rewound',
  ): Promise<boolean> {
    const name = keyText(key);
    const isMeant = (run: ServerRun): boolean =>
      messageId === undefined || run.messageId === messageId;
    const meant = this.of(name).filter(isMeant);
    await Promise.all(meant.map((run) => run.stop(reason)));
    if (meant.length > 0) return true;
    if (messageId !== undefined && reason === 'cancelled') this.refuse(name, messageId);
    return false;
  }

  /** Refuses a message that was cancelled, if it comes within 30 seconds. */
  refuse(name: string, messageId: string): void {
    putLast(this.#cancelled, runName(name, messageId), Date.now(), MAX_CANCELLED);
  }

  /** Takes a message again that has come before it was cancelled. */
  forgive(name: string, messageId: string): void {
    this.#cancelled.delete(runName(name, messageId));
  }

  isRefused(name: string, messageId: string): boolean {
    const at = this.#cancelled.get(runName(name, messageId));
    return at !== undefined && Date.now() - at < CANCELLED_MS;
  }
}

function runName(name: string, messageId: string): string {
  return JSON.stringify([name, messageId]);
}

/** By what stands for a storage. */
const runsOfStorages = new WeakMap<object, ProcessRuns>();

/** Returns the runs of this process over the storage of a service. A user's own service is a storage of its own. */
export function processRunsOf(service: SessionService): ProcessRuns {
  const core = coreOf(service) as ServiceCore | undefined;
  const storage = core?.sharedStorage ?? service;
  const runs = runsOfStorages.get(storage) ?? new ProcessRuns();
  const { processes } = core?.publisher.feed ?? {};
  if (processes?.isUsed === true) runs.join(processes);
  runsOfStorages.set(storage, runs);
  return runs;
}
