// Shared state: keys with `user:` belong to a user of an engine, keys with `app:` to the engine. They exist as long as the
// server, even after their sessions were deleted.

import { type Fields, shuffled } from './proto_json.js';

/**
 * The visibility of shared keys.
 *
 * - `shared`: all sessions of the user in this engine, or all sessions of the engine.
 * - `named`: like `shared`, and other users see the key with the value null.
 * - `session`: only the session of the write.
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

  /** Applies a delta. Returns the session's own state; shared keys are stored here. */
  merge(own: Fields, delta: Fields, owner: Owner): Fields {
    const changes = new Map<string | undefined, [string, unknown][]>();
    for (const [key, value] of Object.entries(delta)) {
      const scope = this.#scopeOf(key, owner);
      const entries = changes.get(scope);
      if (entries === undefined) changes.set(scope, [[key, value]]);
      else entries.push([key, value]);
    }
    for (const [scope, entries] of changes) {
      if (scope === undefined) continue;
      const state = withEntries(this.#states.get(scope)?.state ?? {}, entries);
      this.#states.set(scope, { engine: owner.engine, state });
    }
    return withEntries(own, changes.get(undefined) ?? []);
  }

  /** The state that a session shows. */
  withSharedKeys(own: Fields, owner: Owner): Fields {
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

/** Sets entries; a set key moves to the end. `__proto__` is an ordinary key. */
function withEntries(fields: Fields, entries: readonly [string, unknown][]): Fields {
  const keys = new Set(entries.map(([key]) => key));
  const others = Object.entries(fields).filter(([key]) => !keys.has(key));
  return Object.fromEntries([...others, ...entries]);
}
