import { keyText } from '../../values/model/values/ids.js';
import type { Draft, RunReport } from '../../core/run_report.js';
import { belongsTo } from '../../core/storage/scopes.js';
import type { Event } from '../../values/model/event/event.js';
import type { WatchRequest } from '../../values/model/notice.js';
import { publicView } from '../rights/public_view.js';
import { changesOf } from '../runs/run_growth.js';
import type { ServerRuns } from '../runs/server_runs.js';

/** The most milliseconds that a draft waits before a feed sends what was added. */
const DELAY_MS = 150;

/**
 * The reports of runs in one feed. The first one has the whole drafts, and later ones what was added. A slow reader
 * gets everything that was added since its last read at once, so it holds up no run.
 */
export class RunFeed {
  readonly #runs: ServerRuns;
  readonly #watched: WatchRequest;
  readonly #maySeeCredentials: boolean;
  readonly #onChange: () => void;
  readonly #stop: () => void;
  /** The last report of each run under way. */
  readonly #sent = new Map<string, RunReport>();
  /** The runs that have changed since their last report. */
  readonly #changed = new Map<string, RunReport>();
  /** The drafts as the client may see them. The same object tells that a draft has not changed. */
  readonly #shown = new WeakMap<Event, Event>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;

  /** @param onChange called when there is something to send */
  constructor(
    runs: ServerRuns,
    watched: WatchRequest,
    maySeeCredentials: boolean,
    onChange: () => void,
  ) {
    this.#runs = runs;
    this.#watched = watched;
    this.#maySeeCredentials = maySeeCredentials;
    this.#onChange = onChange;
    this.#stop = runs.follow((run) => this.#note(run), watched);
  }

  /** Returns the JSON of the first report: all runs, with their whole drafts. */
  first(): string {
    this.#changed.clear();
    const runs = this.#runs.reports.filter((run) => belongsTo(run, this.#watched));
    return JSON.stringify({
      type: 'runs',
      ...this.#runs.runId,
      runs: runs.map((run) => this.#reported(run)),
    });
  }

  /** Returns the JSON of the next report, if one is due. */
  next(): string | undefined {
    if (!this.#isDue) return undefined;
    for (const [name, run] of this.#changed) {
      this.#changed.delete(name);
      const before = this.#sent.get(name);
      const report = this.#reported(run);
      const isSameRun = before?.messageId === report.messageId;
      // The feed of an app tells states, and no drafts.
      const tellsNothing = this.#watched.userId === undefined && before?.status === report.status;
      if (isSameRun && tellsNothing) continue;
      return JSON.stringify({ type: 'run', ...changesOf(before, report) });
    }
    this.#isDue = false;
    return undefined;
  }

  end(): void {
    this.#stop();
    clearTimeout(this.#timer);
  }

  #note(run: RunReport): void {
    if (!belongsTo(run, this.#watched)) return;
    this.#changed.set(keyText(run), run);
    if (run.status !== 'running') return this.#fire();
    this.#timer ??= setTimeout(() => this.#fire(), DELAY_MS);
  }

  #fire(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = true;
    this.#onChange();
  }

  /** Returns the report of a run as this feed's client may see it, and remembers it. */
  #reported(run: RunReport): RunReport {
    const { drafts, wholes } = run;
    const hasDrafts = this.#watched.userId !== undefined;
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
