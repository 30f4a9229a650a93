import type { HostAbortSignal } from '../../model/host.js';
import { SessionError } from '../../errors/errors.js';

/** Milliseconds without a successful response after which a closing service aborts its pending calls. */
const CLOSE_TIMEOUT_MS = 5000;

/** Closes a service: pending calls may finish as long as the server keeps answering. */
export class CloseTimeout {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeoutMs = CLOSE_TIMEOUT_MS;

  /** Fires, with an error as its reason, when the service stops waiting for pending calls. */
  get signal(): HostAbortSignal {
    return this.#controller.signal;
  }

  /** @param timeoutMs at most so many milliseconds */
  start(timeoutMs = CLOSE_TIMEOUT_MS): void {
    clearTimeout(this.#timer);
    this.#timeoutMs = Math.min(this.#timeoutMs, timeoutMs);
    this.#timer = setTimeout(() => this.#controller.abort(closedError()), this.#timeoutMs);
  }

  /** Restarts the countdown after a successful response, if the service is closing. */
  restart(): void {
    if (this.#timer !== undefined) this.start();
  }

  /** Ends the countdown, and with it the calls that are still pending. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#controller.abort(closedError());
  }
}

function closedError(): SessionError {
  return new SessionError(
    'closed',
    'The service was closed before Vertex AI responded. An append may be stored; ' +
      'repeat it with another service: a stored event is not stored twice.',
    { storage: 'vertexai' },
  );
}
