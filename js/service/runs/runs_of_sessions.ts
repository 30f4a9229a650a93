import type { CompositeSessionKey } from '../../values/model/session.js';
import { sessionName } from '../../values/model/values/session_name.js';

/** The runs of sessions, which all live stores of a storage or a service share. */
export class RunsOfSessions<Runs> {
  /** By the object that stands for the storage or the service, and then by the session. */
  readonly #known = new WeakMap<object, Map<string, Runs>>();

  /** Returns the runs of a session. Makes them at the first call. */
  get(owner: object, key: CompositeSessionKey, make: () => Runs): Runs {
    const known = this.#known.get(owner) ?? new Map<string, Runs>();
    this.#known.set(owner, known);
    const name = sessionName(key);
    const runs = known.get(name) ?? make();
    known.set(name, runs);
    return runs;
  }
}
