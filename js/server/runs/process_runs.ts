import { coreOf } from '../../core/core_of.js';
import { KeyedQueue } from '../../core/call/scheduling.js';
import type { RunReport, ServerRunId } from '../../core/run_report.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { textOfMark } from '../../values/model/event/metadata.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { ServerRun } from './server_run.js';

/**
 * The runs of this process over one storage, at most one in each session. All handlers over services of that storage
 * share them.
 */
export class ProcessRuns {
  /** By session, from before the message is stored until the end. */
  readonly runs = new Map<string, ServerRun>();
  /** By session: the run of a message that a rewind is about to store, until it is stored or refused. */
  readonly successors = new Map<string, ServerRun>();
  /** The rewinds of each session that begin a run. */
  readonly rewinds = new KeyedQueue();
  /** By session and message: when a message was cancelled that the server does not know. */
  readonly cancelled = new Map<string, number>();
  readonly #listeners = new Set<(report: RunReport) => void>();
  /** Another start of the server has other runs. */
  readonly #start = newEventId();
  /** When this start began: the time from which no earlier process begins a run any more. */
  readonly startedAt = Date.now();
  /** Whether a message has proved that other processes run agents too. */
  hasSeenOther = false;
  #count = 0;
  #admitted = 0;

  get size(): number {
    return this.runs.size + this.successors.size;
  }

  /** The start of the server, and the number of its last run. */
  get lastId(): ServerRunId {
    return { start: this.#start, number: this.#count };
  }

  /** Draws the id of a run whose message is stored. */
  count(): ServerRunId {
    this.#count += 1;
    return this.lastId;
  }

  /** Draws the mark of a message that is admitted now. */
  newMark(): string {
    this.#admitted += 1;
    return textOfMark({ start: this.#start, number: this.#admitted, began: Date.now() });
  }

  /** Returns the run of a session, and the one that is to follow it. */
  of(name: string): ServerRun[] {
    return [this.runs, this.successors].flatMap((runs) => runs.get(name) ?? []);
  }

  /** Calls `listener` with each run that has changed, until the returned function is called. */
  follow(listener: (report: RunReport) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(report: RunReport): void {
    for (const listener of [...this.#listeners]) listener(report);
  }
}

/** By what stands for a storage. */
const runsOfStorages = new WeakMap<object, ProcessRuns>();

/** Returns the runs of this process over the storage of a service. A user's own service is a storage of its own. */
export function processRunsOf(service: SessionService): ProcessRuns {
  const storage = coreOf(service)?.sharedStorage ?? service;
  const runs = runsOfStorages.get(storage) ?? new ProcessRuns();
  runsOfStorages.set(storage, runs);
  return runs;
}
