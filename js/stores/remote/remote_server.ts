import { loadPart } from '../../core/wasm/loader/part.js';
import type { ServerBackend } from './server_backend.js';
import type { Connection } from './connection/connection.js';
import { HandlerBackend } from './handler_backend.js';
import { askServerKind } from './version.js';

/** A server, which is asked for its kind once, and the backend for that kind. */
export class RemoteServer {
  readonly #connection: Connection;
  #backend: ServerBackend | undefined;
  #asking: Promise<void> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Present once {@link RemoteServer.load} has succeeded. */
  get backend(): ServerBackend {
    return this.#backend!;
  }

  /** Asks the server for its kind. Returns `undefined` once it is known. After a failure the next call asks again. */
  load(): Promise<void> | undefined {
    if (this.#backend !== undefined && this.#asking === undefined) return undefined;
    if (this.#asking === undefined) {
      this.#asking = this.#ask();
      const forget = (): void => (this.#asking = undefined);
      // `forget` runs before all calls that wait: none of them begins before it, and no later call overtakes them.
      this.#asking.then(forget, forget);
    }
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const connection = this.#connection;
    connection.kind = await askServerKind(connection, {});
    if (connection.kind.isHandler) {
      this.#backend = new HandlerBackend(connection);
      return;
    }
    // Loaded on demand: most pages never need it.
    const { ApiServerBackend } = await loadPart(() => import('./api_server_backend.js'));
    this.#backend = new ApiServerBackend(connection);
  }
}
