/** The stores of components whose app, user or session is not known yet: before a login, for example. */
import { SessionError } from '../../../values/errors/errors.js';
import { markRaw } from '../../../values/members.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { LiveSession, LiveSessions, LiveStore } from '../types.js';

/** A store that shows nothing, asks no service, and refuses each change. */
export class UnnamedStore<Snapshot> implements LiveStore<Snapshot> {
  static {
    markRaw(this.prototype);
  }

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

  protected readonly refuse = (): Promise<never> => {
    const message = `${this.#missing} is undefined; provide it before the first change.`;
    return Promise.reject(new SessionError('invalid_argument', message, { key: this.#missing }));
  };
}

/** The store of a session that is not known yet. */
export class UnnamedSession<S extends object>
  extends UnnamedStore<ReturnType<LiveSession<S>['getSnapshot']>>
  implements LiveSession<S>
{
  readonly key: CompositeSessionKey = { appName: '', userId: '', sessionId: '' };
  readonly ask = this.refuse;
  readonly answer = this.refuse;
  readonly cancel = this.refuse;
  readonly send = this.refuse;
  readonly retry = this.refuse;
  readonly discard = this.refuse;
  readonly edit = this.refuse;
  readonly regenerate = this.refuse;
  readonly branches = this.refuse;
  readonly switchBranch = this.refuse;
  readonly updateState = this.refuse;
  readonly rename = this.refuse;
  readonly remove = this.refuse;
  readonly loadOlder = (): Promise<boolean> => Promise.resolve(false);
}

/** The store of a list whose user is not known yet. */
export class UnnamedSessions<S extends object>
  extends UnnamedStore<ReturnType<LiveSessions<S>['getSnapshot']>>
  implements LiveSessions<S>
{
  readonly loadMore = this.load;
  readonly create = this.refuse;
  readonly rename = this.refuse;
  readonly remove = this.refuse;
}
