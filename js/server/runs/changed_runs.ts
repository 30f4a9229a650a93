import { backgroundTimer } from '../../core/call/lifetime.js';
import type { RunReport } from '../../core/run_report.js';
import { keyText } from '../../values/model/values/ids.js';

/** The most milliseconds that a change of a run waits until it is told. */
const DELAY_MS = 150;

/** The runs that have changed since they were last told. Changes wait a little, so that several are told at once. */
export class ChangedRuns {
  readonly #onDue: () => void;
  /** By session. */
  readonly #runs = new Map<string, RunReport>();
  #timer: ReturnType<typeof backgroundTimer> | undefined;

  /** @param onDue called when the caller has to `take` the runs */
  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  /** Whether all runs were taken. */
  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  /**
   * Notes a run as it is now.
   *
   * @param isUrgent whether `onDue` is called at once, also for the changes that wait
   */
  note(run: RunReport, isUrgent: boolean): void {
    this.#runs.set(keyText(run), run);
    if (isUrgent) return this.#fire();
    this.#timer ??= backgroundTimer(() => this.#fire(), DELAY_MS);
  }

  /** Yields and forgets the runs, the one that has waited longest first. A caller that stops early leaves the rest. */
  *take(): Generator<RunReport, void> {
    for (const run of this.#runs.values()) {
      this.forget(run);
      yield run;
    }
  }

  /** Forgets the run of a session, which was told. */
  forget(run: RunReport): void {
    this.#runs.delete(keyText(run));
  }

  clear(): void {
    this.#runs.clear();
  }

  /** Stops the timer. Call it last: a later `note` starts it again. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #fire(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#onDue();
  }
}
