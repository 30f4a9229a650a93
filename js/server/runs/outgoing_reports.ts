/** How a process tells its runs to the others. */
import type { Draft, RunReport } from '../../core/run_report.js';
import { belongsTo, type StateOwner } from '../../core/storage/scopes.js';
import { putLast } from '../../values/bounded_map.js';
import type { Event } from '../../values/model/event/event.js';
import { keyText } from '../../values/model/values/ids.js';
import { publicView } from '../rights/public_view.js';
import { ChangedRuns } from './changed_runs.js';
import { changesOf } from './run_growth.js';
import type { RunContents } from './run_messages.js';

/** For so many milliseconds the drafts of a user are sent after another process has said that it has a feed. */
const WANTED_MS = 30_000;

/** The most users whose feeds are remembered. */
const MAX_WANTED = 20_000;

/** The last report of a run that was sent. */
interface SentReport {
  readonly report: RunReport;
  readonly step: number;
  readonly hasDrafts: boolean;
}

/**
 * Tells the runs of this process by growth: the first report of a run is whole, and each other one says what has changed
 * since the step before. Drafts are told as a reader without credentials sees them, and only of users whose feeds another
 * process has. Reports have no number: a page would take it for one of its own server's.
 */
export class OutgoingReports {
  readonly #send: (message: RunContents) => void;
  readonly #tellsDrafts: boolean;
  /** By session: the last report of each run under way. */
  readonly #sent = new Map<string, SentReport>();
  readonly #changed: ChangedRuns;
  /** By user: when another process has last said that it has a feed. */
  readonly #wanted = new Map<string, number>();
  /** The drafts as others may see them. The same object tells that a draft has not changed. */
  readonly #shownDrafts = new WeakMap<Event, Event>();

  /** @param tellsDrafts whether drafts are told at all */
  constructor(send: (message: RunContents) => void, tellsDrafts: boolean) {
    this.#send = send;
    this.#tellsDrafts = tellsDrafts;
    this.#changed = new ChangedRuns(() => {
      for (const run of this.#changed.take()) this.#tell(run);
    });
  }

  /** Tells a run that has changed: its beginning and its end at once, its drafts a little later. */
  note(run: RunReport): void {
    const isKnown = this.#sent.get(keyText(run))?.report.messageId === run.messageId;
    this.#changed.note(run, !isKnown || run.status !== 'running');
  }

  /** Tells runs as they are now. */
  tellWhole(runs: readonly RunReport[]): void {
    for (const run of runs) this.#tell(run, true);
  }

  /** Notes users whose feeds another process has, and tells it those runs of these users whose drafts it may lack. */
  want(owners: readonly Required<StateOwner>[], areNew: boolean, runs: readonly RunReport[]): void {
    for (const { appName, userId } of owners) {
      const owner = { appName, userId };
      const wasWanted = this.#isWanted(owner);
      putLast(this.#wanted, keyText(owner), performance.now(), MAX_WANTED);
      if (areNew || !wasWanted) this.tellWhole(runs.filter((run) => belongsTo(run, owner)));
    }
  }

  #isWanted({ appName, userId }: StateOwner): boolean {
    const at = this.#wanted.get(keyText({ appName, userId }));
    return at !== undefined && performance.now() - at < WANTED_MS;
  }

  #tell(run: RunReport, isWhole = false): void {
    const name = keyText(run);
    this.#changed.forget(run);
    const hasDrafts = this.#tellsDrafts && this.#isWanted(run);
    const report = this.#shown(run, hasDrafts);
    const before = this.#sent.get(name);
    const isSameRun = before?.report.messageId === report.messageId;
    const follows = isSameRun && before?.hasDrafts === hasDrafts && !isWhole;
    const isRunning = run.status === 'running';
    if (follows && !hasDrafts && isRunning) return;
    const step = isSameRun ? before.step + 1 : 1;
    if (isRunning) this.#sent.set(name, { report, step, hasDrafts });
    else this.#sent.delete(name);
    this.#send({ type: 'run', step, run: follows ? changesOf(before.report, report) : report });
  }

  /** Returns a run as others may see it, with its drafts if any are told. */
  shown(run: RunReport): RunReport {
    return this.#shown(run, this.#tellsDrafts);
  }

  #shown(run: RunReport, hasDrafts: boolean): RunReport {
    const { appName, userId, sessionId, messageId, invocationId, status, error } = run;
    return {
      appName,
      userId,
      sessionId,
      messageId,
      invocationId,
      status,
      error,
      drafts: hasDrafts ? run.drafts.map((draft) => this.#shownDraft(draft)) : [],
      wholes: hasDrafts ? run.wholes : [],
    };
  }

  #shownDraft({ event, ...rest }: Draft): Draft {
    const shown = this.#shownDrafts.get(event) ?? publicView(event, false);
    this.#shownDrafts.set(event, shown);
    return { ...rest, event: shown };
  }
}
