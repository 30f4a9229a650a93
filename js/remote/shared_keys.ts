import { defineMember } from '../members/member.js';
import { APP_PREFIX, USER_PREFIX } from '../state/scope.js';
import type { ListedSession, SharedStates } from '../storage/session_store.js';
import type { StateShape } from '../state/state_shape.js';
import type { RemoteSession } from './responses.js';

/** A session in a list, with its revisions. */
export interface ListedRemoteSession extends RemoteSession {
  readonly created: number;
  readonly revision: number;
  readonly createTime: number | undefined;
}

/** The states of the users and the app of a list. A server sends them within the state of each session. */
export class SharedKeys {
  readonly #users = new Map<string, StateShape>();
  readonly #app: StateShape = {};

  /** Returns the session as a storage lists it: without the shared keys. */
  takeOut(session: ListedRemoteSession): ListedSession {
    const { id: sessionId, userId, title, labels } = session;
    const { created, revision, lastUpdateTime, createTime } = session;
    const user = this.#users.get(userId) ?? {};
    this.#users.set(userId, user);
    const own: StateShape = {};
    for (const [key, value] of Object.entries(session.state)) {
      if (key.startsWith(APP_PREFIX)) defineMember(this.#app, key.slice(APP_PREFIX.length), value);
      else if (key.startsWith(USER_PREFIX))
        defineMember(user, key.slice(USER_PREFIX.length), value);
      else defineMember(own, key, value);
    }
    const state = JSON.stringify(own);
    const times = { created, revision, lastUpdateTime, createTime };
    return { sessionId, userId, ...times, state, title, labels, isDamaged: false };
  }

  get states(): SharedStates {
    const pairs = [...this.#users].flatMap(([userId, state]) => [userId, JSON.stringify(state)]);
    return [JSON.stringify(this.#app), ...pairs];
  }
}
