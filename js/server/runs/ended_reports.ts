import type { RunReport } from '../../core/run_report.js';
import { isWithin } from '../../core/storage/scopes.js';
import { utf8Length } from '../../values/json/text.js';
import { putLast } from '../../values/bounded_map.js';
import { partsOf } from '../../values/model/event/parts.js';
import type { Notice } from '../../values/model/notice.js';
import type { SessionService } from '../../values/model/session_service.js';
import { keyText } from '../../values/model/values/ids.js';

/** The most sessions whose last failed or cancelled run is kept. */
const MAX_REPORTS = 1000;
/** The most bytes of draft text that are kept of a run. */
const MAX_DRAFT_BYTES = 2 ** 16;

/**
 * How the last run of each session ended, if it failed or was cancelled. A deletion in this process drops the report.
 */
export class EndedReports {
  readonly #service: SessionService;
  readonly #onDeleted: (report: RunReport) => void;
  readonly #reports = new Map<string, RunReport>();
  /** By app that has a report: ends the watch for deletions. */
  readonly #watches = new Map<string, () => void>();

  /** @param onDeleted gets each report that a deletion has dropped */
  constructor(service: SessionService, onDeleted: (report: RunReport) => void) {
    this.#service = service;
    this.#onDeleted = onDeleted;
  }

  get all(): readonly RunReport[] {
    return [...this.#reports.values()];
  }

  put(report: RunReport): void {
    const { appName } = report;
    putLast(this.#reports, keyText(report), { ...report, drafts: kept(report) }, MAX_REPORTS);
    if (this.#watches.has(appName)) return this.#endWatches();
    const onNotice = (notice: Notice): void => this.#drop(appName, notice);
    try {
      this.#watches.set(appName, this.#service.watch({ appName }, { onNotice }));
    } catch {
      // Nobody would tell of deletions, so the report is not kept.
      this.#reports.delete(keyText(report));
    }
  }

  /** Drops the report of a session that has another run. */
  delete(name: string): void {
    if (this.#reports.delete(name)) this.#endWatches();
  }

  clear(): void {
    this.#reports.clear();
    this.#endWatches();
  }

  #drop(appName: string, notice: Notice): void {
    if (notice.type !== 'deleted' && notice.type !== 'lost') return;
    for (const [name, report] of this.#reports) {
      const isGone = notice.type === 'lost' ? report.appName === appName : isWithin(report, notice);
      if (!isGone) continue;
      this.#reports.delete(name);
      this.#onDeleted(report);
    }
    this.#endWatches();
  }

  #endWatches(): void {
    const apps = new Set(this.all.map(({ appName }) => appName));
    for (const [appName, stop] of this.#watches) {
      if (apps.has(appName)) continue;
      stop();
      this.#watches.delete(appName);
    }
  }
}

/** The texts of a cancelled run, and those that have ended, are stored as events. */
function kept({ status, drafts }: RunReport): RunReport['drafts'] {
  if (status === 'cancelled') return [];
  const open = drafts.filter(({ endedBy }) => endedBy === undefined);
  const parts = open.flatMap(({ event }) => partsOf(event));
  const sizes = parts.map((part) => utf8Length(part.text ?? JSON.stringify(part)));
  return sizes.reduce((sum, size) => sum + size, 0) <= MAX_DRAFT_BYTES ? open : [];
}
