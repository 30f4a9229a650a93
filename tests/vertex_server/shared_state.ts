// State that is not one session's: the keys with `user:` belong to a user of an engine, those with `app:` to the engine. They
// are there as long as the server is, whatever becomes of the sessions that they were written to.

import { type Fields, shuffled } from './proto_json.js';

/**
 * Who sees such a key.
 *
 * - `shared`: all of the user's sessions of this engine, and all of the engine's.
 * - `named`: likewise, and other users see that the key is there, with null for its value.
 * - `session`: only the session that it was written to.
 */
export type Scopes = 'shared' | 'named' | 'session';

export interface Owner {
  readonly engine: string;
  readonly userId: unknown;
}

export class SharedState {
  readonly #scopes: Scopes;
  readonly #states = new Map<string, { readonly engine: string; state: Fields }>();

  constructor(scopes: Scopes) {
    this.#scopes = scopes;
  }

  /** What the session's own state is after the delta; the rest of it goes to where it belongs. */
  merge(own: Fields, delta: Fields, owner: Owner): Fields {
    for (const [key, value] of Object.entries(delta)) {
      const scope = this.#scopeOf(key, owner);
      if (scope === undefined) {
        own = withKey(own, key, value);
      } else {
        const state = withKey(this.#states.get(scope)?.state ?? {}, key, value);
        this.#states.set(scope, { engine: owner.engine, state });
      }
    }
    return own;
  }

  /** What a session shows. */
  shown(own: Fields, owner: Owner): Fields {
    const entries = ['user:', 'app:'].flatMap((prefix) => {
      const scope = this.#scopeOf(prefix, owner);
      const state = scope === undefined ? undefined : this.#states.get(scope)?.state;
      return Object.entries(state ?? {});
    });
    const names = this.#scopes === 'named' ? this.#keysOf(owner.engine) : [];
    const unknown = names.map((key): [string, unknown] => [key, null]);
    const all = new Map([...unknown, ...entries, ...Object.entries(own)]);
    return shuffled([...all]);
  }

  #keysOf(engine: string): string[] {
    const states = [...this.#states.values()].filter((entry) => entry.engine === engine);
    return states.flatMap(({ state }) => Object.keys(state));
  }

  #scopeOf(key: string, { engine, userId }: Owner): string | undefined {
    if (this.#scopes === 'session') return undefined;
    if (key.startsWith('app:')) return JSON.stringify([engine]);
    return key.startsWith('user:') ? JSON.stringify([engine, userId]) : undefined;
  }
}

/** `__proto__` is a key like any other. */
function withKey(fields: Fields, key: string, value: unknown): Fields {
  const others = Object.entries(fields).filter(([name]) => name !== key);
  return Object.fromEntries([...others, [key, value]]);
}
