import { defineMember } from '../../values/members/member.js';
import { scopedKey } from '../../values/state/keys.js';
import type { ListedSession, SharedStates } from '../../core/storage/store.js';
import type { StateShape } from '../../values/state/state_shape.js';
import type { ResponseSession } from './responses.js';

/** A session in a list, with its revisions. */
export interface ListedRemoteSession extends ResponseSession {
  readonly created: number;
  readonly revision: number;
  readonly createTime: number | undefined;
}

/** The states of the users and the app of a list. A server sends them within the state of each session. */
export class SharedKeys {
  readonly #users = new Map<string, StateShape>();
  readonly #app: StateShape = {};

  /** Returns the session as a storage lists it: without the shared keys. */
  takeOut({ id: sessionId, state: all, ...session }: ListedRemoteSession): ListedSession {
    const user = this.#users.get(session.userId) ?? {};
    this.#users.set(session.userId, user);
    const states = { app: this.#app, user, session: {} };
    for (const [key, value] of Object.entries(all)) {
      const [scope, name] = scopedKey(key);
      defineMember(states[scope], name, value);
    }
    return { ...session, sessionId, state: JSON.stringify(states.session), isDamaged: false };
  }

  get states(): SharedStates {
    const users = [...this.#users].map(
      ([userId, state]) => [userId, JSON.stringify(state)] as const,
    );
    return { app: JSON.stringify(this.#app), users: new Map(users) };
  }
}
