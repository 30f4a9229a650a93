import type { HostAbortSignal } from '../model/host.js';
import { SessionError } from '../errors/errors.js';
import type { HttpServer } from './http_errors.js';

/** Milliseconds without a successful response after which a closing service aborts its pending calls. */
const CLOSE_TIMEOUT_MS = 5000;

/** Closes a service: pending calls may finish as long as the server keeps answering. */
export class CloseTimeout {
  readonly #server: HttpServer;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timeoutMs = CLOSE_TIMEOUT_MS;

  constructor(server: HttpServer) {
    this.#server = server;
  }

  /** Fires, with an error as its reason, when the service stops waiting for pending calls. */
  get signal(): HostAbortSignal {
    return this.#controller.signal;
  }

  /** @param timeoutMs at most so many milliseconds */
  start(timeoutMs = CLOSE_TIMEOUT_MS): void {
    clearTimeout(this.#timer);
    this.#timeoutMs = Math.min(this.#timeoutMs, timeoutMs);
    this.#timer = setTimeout(
      () => this.#controller.abort(closedError(this.#server)),
      this.#timeoutMs,
    );
  }

  /** Restarts the countdown after a successful response, if the service is closing. */
  restart(): void {
    if (this.#timer !== undefined) this.start();
  }

  /** Ends the countdown, and with it the calls that are still pending. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#controller.abort(closedError(this.#server));
  }
}

function closedError({ name, storage }: HttpServer): SessionError {
  return new SessionError(
    'closed',
    `The service was closed before ${name} responded. An append may be stored; ` +
      'repeat it with another service: a stored event is not stored twice.',
    { storage },
  );
}
