import { keepEqual } from '../../values/json/equal.js';
import type { LiveSessionSnapshot } from './types/live_session.js';
import { splitState } from './snapshot/scoped_state.js';

/** The members of a snapshot that come from the session, except its events. */
type HeadMembers<S extends object> = Pick<
  LiveSessionSnapshot<S>,
  'state' | 'scopes' | 'lastUpdateTime' | 'title' | 'labels'
>;

/** A session as it was last read, without its events. */
export class ShownHead<S extends object> {
  #status: LiveSessionSnapshot['status'] = 'loading';
  #members = NO_MEMBERS as HeadMembers<S>;
  /** The revision that was read last. If it is absent, only a read of the whole window tells what has changed. */
  #revision: number | undefined;

  get status(): LiveSessionSnapshot['status'] {
    return this.#status;
  }

  get members(): HeadMembers<S> {
    return this.#members;
  }

  get revision(): number | undefined {
    return this.#revision;
  }

  /** Whether a read has found the session. If a later read does not find it, it was deleted. */
  get wasThere(): boolean {
    return this.#status === 'ready' || this.#status === 'deleted';
  }

  set(
    revision: number | undefined,
    { lastUpdateTime, title, labels }: Omit<HeadMembers<S>, 'state' | 'scopes'>,
    given: HeadMembers<S>['state'],
  ): void {
    this.#revision = revision;
    this.#status = 'ready';
    const state = keepEqual(this.#members.state, given);
    this.#members = keepEqual(this.#members, {
      state,
      scopes: splitState<S>(state),
      lastUpdateTime,
      ...(title !== undefined && { title }),
      ...(labels !== undefined && { labels }),
    });
  }

  /** Notes that there is no session. */
  setGone(status: 'deleted' | 'missing' | 'loading'): void {
    this.#status = status;
    this.#revision = undefined;
    this.#members = NO_MEMBERS as HeadMembers<S>;
  }
}

const NO_MEMBERS = { state: {}, scopes: splitState<object>({}), lastUpdateTime: 0 };
