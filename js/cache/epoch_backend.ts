import type { Call } from '../call/call.js';
import type { Placed } from '../core/write.js';
import type {
  Backend,
  BackendHistory,
  ChangesRequest,
  EventsRequest,
  InfoRequest,
  ListRequest,
  PageRequest,
  ReadRequest,
  StateRequest,
  StoredKind,
} from '../storage/backend.js';
import { CacheBackend } from './cache_backend.js';

/** Passes each verb on to the local data that its call began with, also if they were erased since. */
export class EpochBackend implements Backend {
  readonly #present: () => CacheBackend;

  readonly history: BackendHistory = {
    rewind: (request, call) => this.#of(call).history.rewind(request, call),
    fork: (request, call) => this.#of(call).history.fork(request, call),
    branches: (request, call) => this.#of(call).history.branches(request, call),
    stateAt: (request, call) => this.#of(call).history.stateAt(request, call),
  };

  constructor(present: () => CacheBackend) {
    this.#present = present;
  }

  /** Returns the backend that the call began with. Work of the package has none, and takes the present one. */
  #of({ epoch }: Call): CacheBackend {
    return epoch instanceof CacheBackend ? epoch : this.#present();
  }

  open(call: Call) {
    return this.#of(call).open(call);
  }

  keepsOperations(call: Call) {
    return this.#of(call).keepsOperations();
  }

  write<Kind extends StoredKind>(write: Placed<Kind>, call: Call) {
    return this.#of(call).write(write, call);
  }

  get(request: ReadRequest, call: Call) {
    return this.#of(call).get(request, call);
  }

  page(request: PageRequest, call: Call) {
    return this.#of(call).page(request, call);
  }

  info(request: InfoRequest, call: Call) {
    return this.#of(call).info(request, call);
  }

  getEvents(request: EventsRequest, call: Call) {
    return this.#of(call).getEvents(request, call);
  }

  changes(request: ChangesRequest, call: Call) {
    return this.#of(call).changes(request, call);
  }

  list(request: ListRequest, call: Call) {
    return this.#of(call).list(request, call);
  }

  sharedState(request: StateRequest, call: Call) {
    return this.#of(call).sharedState(request, call);
  }
}
