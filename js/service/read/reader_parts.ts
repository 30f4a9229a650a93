import type { Call } from '../../core/call/call.js';
import type { Handles } from '../../core/handle/handle.js';
import type { Store } from '../../core/storage/store.js';

/** The parts of a service that its readers use. */
export interface ReaderParts {
  /** Calls the store, once the wasm is loaded. */
  readonly callStore: <T>(call: Call, work: (store: Store) => T | Promise<T>) => Promise<T>;
  readonly handles: Handles;
}
