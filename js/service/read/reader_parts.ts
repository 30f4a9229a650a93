import type { Call, MaybePromise } from '../../core/call/call.js';
import type { Handles } from '../../core/handle/handle.js';
import type { Backend } from '../../core/storage/backend.js';

/** The parts of a service that its readers use. */
export interface ReaderParts {
  /** Calls the backend, once the wasm is loaded. */
  readonly callBackend: <T>(
    call: Call,
    work: (backend: Backend) => MaybePromise<T>,
  ) => MaybePromise<T>;
  readonly handles: Handles;
}
