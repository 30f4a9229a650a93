import type { Result } from './migrate.js';

/** The part of an output stream that is used here. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR = 24;
/** Milliseconds between two drawings of the bar. */
const FRAME = 100;
/** Milliseconds between two lines if the output is not a terminal. */
const PAUSE = 10_000;

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

  show(at: number, result: Result): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#isTerminal ? FRAME : PAUSE)) return;
    this.#shownAt = now;
    // The source may have grown since its size was read.
    const part = this.#size === 0 ? 1 : Math.min(1, at / this.#size);
    const text = `${String(Math.floor(part * 100)).padStart(3)} %  ${counted(result)}`;
    if (!this.#isTerminal) {
      this.#output.write(`${text}\n`);
      return;
    }
    const full = Math.round(part * BAR);
    const line = `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${text}`;
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

function counted({ verified, failed }: Result): string {
  const wrong = failed === 0 ? '' : `, ${failed} failed`;
  return `${verified.sessions} sessions, ${verified.events} events${wrong}`;
}
