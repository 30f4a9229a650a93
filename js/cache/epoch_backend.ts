import type { Call } from '../call/call.js';
import type { Placed } from '../core/write.js';
import type {
  Backend,
  BackendHistory,
  BackendRequest,
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
    rewind: (request) => this.#of(request).history.rewind(request),
    fork: (request) => this.#of(request).history.fork(request),
    branches: (request) => this.#of(request).history.branches(request),
    stateAt: (request) => this.#of(request).history.stateAt(request),
  };

  constructor(present: () => CacheBackend) {
    this.#present = present;
  }

  /** Returns the backend that the call began with. Work of the package has none, and takes the present one. */
  #of({ call: { epoch } }: BackendRequest): CacheBackend {
    return epoch instanceof CacheBackend ? epoch : this.#present();
  }

  open(call: Call) {
    return this.#of({ call }).open(call);
  }

  keepsOperations(call: Call) {
    return this.#of({ call }).keepsOperations();
  }

  write<Kind extends StoredKind>(write: Placed<Kind>, call: Call) {
    return this.#of({ call }).write(write, call);
  }

  get(request: ReadRequest) {
    return this.#of(request).get(request);
  }

  page(request: PageRequest) {
    return this.#of(request).page(request);
  }

  info(request: InfoRequest) {
    return this.#of(request).info(request);
  }

  getEvents(request: EventsRequest) {
    return this.#of(request).getEvents(request);
  }

  changes(request: ChangesRequest) {
    return this.#of(request).changes(request);
  }

  list(request: ListRequest) {
    return this.#of(request).list(request);
  }

  sharedState(request: StateRequest) {
    return this.#of(request).sharedState(request);
  }
}
