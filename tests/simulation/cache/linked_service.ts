// A service over a store that others use too, each over a link of its own.

import { ServiceCore } from '../../../js/service/service_core.js';
import type { SessionServiceOptions } from '../../../js/service/service_options.js';
import { StoredSessionService } from '../../../js/service/stored_session_service.js';
import type { SessionStore } from '../../../js/storage/session_store.js';
import type { Feed } from '../../../js/watch/feed.js';

export function serviceOver(
  kind: string,
  store: SessionStore,
  options: SessionServiceOptions = {},
  feed?: Feed,
): StoredSessionService {
  const storage = { kind, durable: true };
  const parts = { storage, openStore: () => store, ...(feed !== undefined && { feed }) };
  return new StoredSessionService(new ServiceCore(parts, options));
}

/** Lets a verb of a store run, or prevents it. */
export type Pass = <T>(
  verb: string,
  run: () => T | Promise<T>,
  values: readonly unknown[],
) => Promise<T>;

/** A store whose verbs pass a link. Its owner frees the store itself. */
export function linkedStore(store: SessionStore, pass: Pass): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'free') return () => undefined;
      // It would answer with many promises.
      if (name === 'appendMany') return undefined;
      const verb: unknown = Reflect.get(target, name, target);
      if (typeof verb !== 'function') return verb;
      return (...values: unknown[]) =>
        pass(String(name), () => Reflect.apply(verb, target, values) as unknown, values);
    },
  });
}
