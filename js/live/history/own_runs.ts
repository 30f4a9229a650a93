import { backoff } from '../../call/backoff.js';
import { endsWithin } from '../../call/time_limit.js';
import { isSessionError } from '../../errors/errors.js';
import type { HostAbortSignal } from '../../model/host.js';

/** Milliseconds for which an aborted run may still end. One that ignores its signal is not waited for any longer. */
const END_MS = 1000;

/** Milliseconds for which a server may still count a run that has ended in the page. */
const SERVER_END_MS = 5000;

/** The first and the longest pause before a server is asked again, in milliseconds. */
const PAUSES = [100, 1000] as const;

interface OwnRun {
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/** The runs of agents that a page has begun in a session. */
export class OwnRuns {
  readonly #runs = new Set<OwnRun>();
  /** When the last run ended or was aborted, in milliseconds since 1970. */
  #endedAt = -Infinity;

  get isRunning(): boolean {
    return this.#runs.size > 0;
  }

  async run<Result>(answer: (signal: HostAbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    // Takes a function that throws at once, too.
    const running = (async () => answer(controller.signal))();
    const run = { controller, ended: running.catch(() => undefined) };
    this.#runs.add(run);
    try {
      return await running;
    } finally {
      this.#runs.delete(run);
      this.#endedAt = Date.now();
    }
  }

  /** Aborts the runs. What they still store comes before what is stored after this. */
  async abort(): Promise<void> {
    if (this.#runs.size === 0) return;
    const runs = [...this.#runs];
    for (const { controller } of runs) controller.abort();
    this.#endedAt = Date.now();
    await endsWithin(END_MS, Promise.all(runs.map(({ ended }) => ended)));
  }

  /**
   * Runs a change of the history. A server refuses it with status 409 until it knows that the page's run has ended. So
   * a refused change is repeated for a while after that end.
   */
  async afterEnd<Result>(change: () => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await change();
      } catch (error) {
        const isRunning = isSessionError(error, 'remote') && error.status === 409;
        if (!isRunning || Date.now() - this.#endedAt > SERVER_END_MS) throw error;
      }
      const pause = backoff(attempt, ...PAUSES);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
