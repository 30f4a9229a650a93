import type { MigrateResult } from './migrate.js';

/** The part of an output stream that is used here. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
/** Milliseconds between two drawings of the bar. */
const FRAME_MS = 100;
/** Milliseconds between two lines if the output is not a terminal. */
const LINE_INTERVAL_MS = 10_000;

/** Shows the progress: a bar in a terminal, otherwise a line from time to time. */
export class Progress {
  readonly #output: Output;
  readonly #size: number;
  #shownAt: number;
  #isShown = false;

  constructor(output: Output, size: number) {
    this.#output = output;
    this.#size = size;
    // Outside of a terminal, the first line comes after a pause: a short run needs none.
    this.#shownAt = this.#isTerminal ? 0 : performance.now();
  }

  show(at: number, result: MigrateResult): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#isTerminal ? FRAME_MS : LINE_INTERVAL_MS)) return;
    this.#shownAt = now;
    // The source may have grown since its size was read.
    const fraction = this.#size === 0 ? 1 : Math.min(1, at / this.#size);
    const text = `${String(Math.floor(fraction * 100)).padStart(3)} %  ${formatCounts(result)}`;
    if (!this.#isTerminal) {
      this.#output.write(`${text}\n`);
      return;
    }
    const filled = Math.round(fraction * BAR_WIDTH);
    const line = `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${text}`;
    this.#output.write(`\r\u001b[K${line.slice(0, (this.#output.columns ?? 80) - 1)}`);
    this.#isShown = true;
  }

  /** Removes the bar, so that another line can be written. */
  clear(): void {
    if (this.#isShown) this.#output.write('\r\u001b[K');
    this.#isShown = false;
    this.#shownAt = this.#isTerminal ? 0 : this.#shownAt;
  }

  get #isTerminal(): boolean {
    return this.#output.isTTY === true;
  }
}

function formatCounts({ verified, failed }: MigrateResult): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `${verified.sessions} sessions, ${verified.events} events${failures}`;
}
