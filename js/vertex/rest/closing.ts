import { SessionError } from '../../errors/errors.js';

/** Milliseconds without any good answer after which a service that closes gives up what it waits for. */
const PATIENCE_MS = 5000;

/** The end of a service: calls under way may end as long as the server answers. */
export class Closing {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Fires, with an error as its reason, when nothing is waited for any longer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(closed()), PATIENCE_MS);
  }

  /** The server has answered a request. */
  progress(): void {
    if (this.#timer !== undefined) this.begin();
  }

  /** Nothing is waited for. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function closed(): SessionError {
  return new SessionError(
    'closed',
    'The service was closed while Vertex AI did not answer. Whether an append was stored is not known; ' +
      'append it again with another service: none is stored twice.',
    { storage: 'vertexai' },
  );
}
