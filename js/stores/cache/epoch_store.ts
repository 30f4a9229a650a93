import type { Call } from '../../core/call/call.js';
import type { Store } from '../../core/storage/store.js';
import { CacheStore } from './cache_store.js';

/** Returns a store that passes each verb to the local data of the call's epoch, even after an erasure. */
export function epochStore(present: () => CacheStore): Store {
  /** Calls that the package makes itself have none, and take that of the present epoch. */
  const of = ({ store }: Call): CacheStore => (store instanceof CacheStore ? store : present());
  return {
    traits: present().traits,
    open: (call) => of(call).open(),
    write: (write, call) => of(call).write(write, call),
    read: (request, call) => of(call).read(request, call),
    list: (request, call) => of(call).list(request, call),
    state: (request, call) => of(call).state(request, call),
  };
}
