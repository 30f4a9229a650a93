import { keyText } from '../../values/model/values/ids.js';
import type { Draft, RunReport } from '../../core/run_report.js';
import { isWithin } from '../../core/storage/scopes.js';
import type { Event } from '../../values/model/event/event.js';
import type { WatchRequest } from '../../values/model/notice.js';
import { publicView } from '../rights/public_view.js';
import { ChangedRuns } from '../runs/changed_runs.js';
import { changesOf } from '../runs/run_growth.js';
import type { ServerRuns } from '../runs/server_runs.js';

/** The runs that a stream reports: all of what is watched, or that of one message, which this process runs. */
interface FollowedRuns extends WatchRequest {
  readonly messageId?: string;
}

/**
 * The reports of runs in one stream. The first one has the whole drafts, and later ones what was added. A slow reader
 * gets everything that was added since its last read at once, so it holds up no run.
 */
export class RunFeed {
  readonly #runs: ServerRuns;
  readonly #followed: FollowedRuns;
  readonly #maySeeCredentials: boolean;
  readonly #stop: () => void;
  /** The last report of each run under way. */
  readonly #sent = new Map<string, RunReport>();
  readonly #changed: ChangedRuns;
  /** The drafts as the client may see them. The same object tells that a draft has not changed. */
  readonly #shown = new WeakMap<Event, Event>();
  #isDue = false;

  /** @param onChange called when there is something to send */
  constructor(
    runs: ServerRuns,
    followed: FollowedRuns,
    maySeeCredentials: boolean,
    onChange: () => void,
  ) {
    this.#runs = runs;
    this.#followed = followed;
    this.#maySeeCredentials = maySeeCredentials;
    this.#changed = new ChangedRuns(() => {
      this.#isDue = true;
      onChange();
    });
    const owner = followed.messageId === undefined ? followed : undefined;
    this.#stop = runs.follow((run) => this.#note(run), owner);
  }

  /** Returns the JSON of the first report: all runs, with their whole drafts. */
  first(): string {
    this.#changed.clear();
    const runs = this.#runs.reports.filter((run) => this.#isMeant(run));
    return JSON.stringify({
      type: 'runs',
      ...this.#runs.runId,
      runs: runs.map((run) => this.#reported(run)),
    });
  }

  /** Returns the JSON of the next report, if one is due. */
  next(): string | undefined {
    if (!this.#isDue) return undefined;
    for (const run of this.#changed.take()) {
      const before = this.#sent.get(keyText(run));
      const report = this.#reported(run);
      const isSameRun = before?.messageId === report.messageId;
      // The feed of an app tells states, and no drafts.
      const tellsNothing = this.#followed.userId === undefined && before?.status === report.status;
      if (isSameRun && tellsNothing) continue;
      return JSON.stringify({ type: 'run', ...changesOf(before, report) });
    }
    this.#isDue = false;
    return undefined;
  }

  end(): void {
    this.#stop();
    this.#changed.end();
  }

  /** Makes the runs under way due, so that {@link RunFeed.next} returns them whole. */
  noteUnderWay(): void {
    for (const run of this.#runs.reports) {
      if (this.#isMeant(run)) this.#changed.note(run, true);
    }
  }

  /** Whether all runs that were noted have ended, and were reported. */
  get isOver(): boolean {
    return this.#sent.size === 0 && this.#changed.isEmpty;
  }

  #isMeant(run: RunReport): boolean {
    const { messageId = run.messageId } = this.#followed;
    return run.messageId === messageId && isWithin(run, this.#followed);
  }

  #note(run: RunReport): void {
    if (this.#isMeant(run)) this.#changed.note(run, run.status !== 'running');
  }

  /** Returns the report of a run as this feed's client may see it, and remembers it. */
  #reported(run: RunReport): RunReport {
    const { drafts, wholes } = run;
    const hasDrafts = this.#followed.userId !== undefined;
    const report: RunReport = {
      ...run,
      drafts: hasDrafts ? drafts.map((draft) => this.#shownDraft(draft)) : [],
      wholes: hasDrafts ? wholes : [],
    };
    const name = keyText(run);
    if (run.status === 'running') this.#sent.set(name, report);
    else this.#sent.delete(name);
    return report;
  }

  #shownDraft({ event, ...rest }: Draft): Draft {
    const shown = this.#shown.get(event) ?? publicView(event, this.#maySeeCredentials);
    this.#shown.set(event, shown);
    return { ...rest, event: shown };
  }
}
