import { Deadline } from '../../call/deadline.js';
import type { HostAbortSignal } from '../../model/host.js';

/** Milliseconds for which an aborted run may still end. One that ignores its signal is not waited for any longer. */
const END_MS = 1000;

interface OwnRun {
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/** The runs of agents that a page has begun in a session. */
export class OwnRuns {
  readonly #runs = new Set<OwnRun>();

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
    }
  }

  /** Aborts the runs. What they still store comes before what is stored after this. */
  async abort(): Promise<void> {
    if (this.#runs.size === 0) return;
    const runs = [...this.#runs];
    for (const { controller } of runs) controller.abort();
    const deadline = new Deadline(END_MS);
    await deadline.until(Promise.all(runs.map(({ ended }) => ended)));
    deadline.clear();
  }
}
