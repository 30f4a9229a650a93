import { loadChunk } from '../../core/wasm/loader/chunk.js';
import { type ServerStore, askServerKind } from './server_store.js';
import type { HttpConnection } from './connection/connection.js';
import { HandlerStore } from './handler_store.js';
import type { RunReports } from './run_reports.js';

/** A server, which is asked for its kind once, and the store for that kind. */
export class RemoteServer {
  readonly #connection: HttpConnection;
  readonly #runs: RunReports;
  #store: ServerStore | undefined;
  #asking: Promise<void> | undefined;

  constructor(connection: HttpConnection, runs: RunReports) {
    this.#connection = connection;
    this.#runs = runs;
  }

  /** Present once {@link RemoteServer.load} has succeeded. */
  get store(): ServerStore {
    return this.#store!;
  }

  /** Whether the server has an agent; `undefined` until its kind is known. */
  get runsAgents(): boolean | undefined {
    return this.#connection.kind?.runsAgents;
  }

  get maxBodyBytes(): number | undefined {
    return this.#connection.kind?.maxBodyBytes;
  }

  /** Asks the server for its kind. Returns `undefined` once it is known. After a failure the next call asks again. */
  load(): Promise<void> | undefined {
    if (this.#store !== undefined && this.#asking === undefined) return undefined;
    if (this.#asking === undefined) {
      this.#asking = this.#ask();
      const forget = (): void => (this.#asking = undefined);
      // `forget` runs before all calls that wait: none of them begins before it, and no later call overtakes them.
      this.#asking.then(forget, forget);
    }
    return this.#asking;
  }

  /** Waits until the kind is known, if a call asks for it now or at once. Asks nothing itself. */
  async asking(): Promise<void> {
    // A page that watches reads too.
    if (this.#store === undefined) await new Promise<void>((done) => setTimeout(done, 0));
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const connection = this.#connection;
    connection.kind = await askServerKind(connection, {});
    if (connection.kind.isHandler) {
      this.#store = new HandlerStore(connection, this.#runs);
      return;
    }
    // Loaded on demand: most pages never need it.
    const { ApiServerStore } = await loadChunk(() => import('./api_server_store.js'));
    this.#store = new ApiServerStore(connection);
  }
}
