import { onAbort } from '../../call/on_abort.js';

/** Fires its signal when the time of a request is up, or when its client has gone. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #ignoreClient: () => void;

  /** @param timeoutMs milliseconds from now */
  constructor(client: AbortSignal, timeoutMs: number) {
    const abort = (): void => this.#controller.abort();
    this.#timer = setTimeout(abort, timeoutMs);
    this.#ignoreClient = onAbort(client, abort);
    if (client.aborted) abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Frees the timer and the client's signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#ignoreClient();
  }
}
