/** The work of a service that outlives its calls. The service's `close` waits for the work. */
export class Background {
  readonly #requireOpen: () => void;
  readonly #pending = new Set<Promise<unknown>>();

  /** @param requireOpen throws if the service is closed */
  constructor(requireOpen: () => void) {
    this.#requireOpen = requireOpen;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = (async () => {
      this.#requireOpen();
      return work();
    })();
    this.#pending.add(done);
    const settle = (): void => void this.#pending.delete(done);
    done.then(settle, settle);
    return done;
  }

  /** Waits for the work that was given so far. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}
