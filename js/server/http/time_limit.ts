/** Fires its signal when the time of a request is up, or when its client has gone. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #client: AbortSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #abort = (): void => this.#controller.abort();

  /** @param timeoutMs milliseconds from now */
  constructor(client: AbortSignal, timeoutMs: number) {
    this.#client = client;
    this.#timer = setTimeout(this.#abort, timeoutMs);
    if (client.aborted) this.#abort();
    else client.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Frees the timer and the client's signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#abort);
  }
}
