import {
  type DeleteDatabaseOptions,
  IndexedDbSessionService as DatabaseService,
  type IndexedDbSessionServiceOptions,
} from '../service/indexed_db_session_service.js';
import type { Abortable } from '../session.js';
import { FrameworkSessionService } from './framework_session_service.js';

/**
 * The package's `IndexedDbSessionService` as one of the framework: pass it to a `Runner` in a page or
 * worker, and conversations outlive it.
 *
 * It takes the options of the package's own service. Only `stale` has another default, `'append'`: a
 * turn that is running must not see foreign events in its middle.
 *
 * @example
 * ```ts
 * import { LlmAgent, Runner } from '@google/adk';
 * import { IndexedDbSessionService } from 'adk-session-wasm/adk';
 *
 * const sessionService = new IndexedDbSessionService({ name: 'my-shop' });
 * const agent = new LlmAgent({ name: 'guide', model: 'gemini-2.5-flash' });
 * const runner = new Runner({ appName: 'shop', agent, sessionService });
 * ```
 */
export class IndexedDbSessionService extends FrameworkSessionService {
  readonly #open: (request: Abortable) => Promise<void>;

  /** @throws SessionError `invalid_argument` for options that mean nothing */
  constructor({ stale = 'append', ...options }: IndexedDbSessionServiceOptions = {}) {
    let database!: DatabaseService;
    super((writer) => (database = new DatabaseService({ stale, ...options }, writer)));
    this.#open = (request) => database.open(request);
  }

  /** Opens the database now, to learn whether it can be; else the first call does. */
  open(request: Abortable = {}): Promise<void> {
    return this.#open(request);
  }

  /** Deletes a database with all that is in it, as for a logout. */
  static deleteDatabase(name?: string, options?: DeleteDatabaseOptions): Promise<void> {
    return DatabaseService.deleteDatabase(name, options);
  }
}
