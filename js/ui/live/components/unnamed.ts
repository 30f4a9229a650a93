/** The stores of components whose app, user or session is not known yet: before a login, for example. */
import { SessionError } from '../../../values/errors/errors.js';
import { markRaw } from '../../../values/members.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { LiveStore } from '../types.js';

/** A session, a list or a search that shows nothing, asks no service, and refuses each change. */
export class UnnamedStore<Snapshot> implements LiveStore<Snapshot> {
  static {
    markRaw(this.prototype);
  }

  readonly key: CompositeSessionKey = { appName: '', userId: '', sessionId: '' };
  readonly #missing: string;
  readonly #snapshot: Snapshot;

  /** @param missing the name that is not known: `userId`, for example */
  constructor(missing: string, snapshot: Snapshot) {
    this.#missing = missing;
    this.#snapshot = snapshot;
  }

  readonly getSnapshot = (): Snapshot => this.#snapshot;
  readonly subscribe = (listener: (snapshot: Snapshot) => void): (() => void) => {
    listener(this.#snapshot);
    return () => undefined;
  };
  readonly load = (): Promise<void> => Promise.resolve();
  readonly reload = this.load;
  readonly loadMore = this.load;
  readonly loadOlder = (): Promise<boolean> => Promise.resolve(false);

  readonly #refuse = (): Promise<never> => {
    const message = `${this.#missing} is undefined; provide it before the first change.`;
    return Promise.reject(new SessionError('invalid_argument', message, { key: this.#missing }));
  };
  readonly ask = this.#refuse;
  readonly answer = this.#refuse;
  readonly cancel = this.#refuse;
  readonly send = this.#refuse;
  readonly retry = this.#refuse;
  readonly discard = this.#refuse;
  readonly edit = this.#refuse;
  readonly regenerate = this.#refuse;
  readonly branches = this.#refuse;
  readonly switchBranch = this.#refuse;
  readonly updateState = this.#refuse;
  readonly create = this.#refuse;
  readonly rename = this.#refuse;
  readonly remove = this.#refuse;
}
