import { putLast } from '../../../values/bounded_map.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { keyOfName, nameOf } from '../records/cache_key.js';

/** The most sessions, and the most births of each, that are remembered. */
const MOST_SESSIONS = 1000;
const MOST_BIRTHS = 64;

/** Which session a reader has found. */
export interface Identity {
  /** The local number that the session has here. */
  readonly birth: number;
  /** The remote's revision at its creation; absent if it is not known. */
  readonly created: number | undefined;
}

/** The birth that the last handles of a session have. */
export interface SessionBirth {
  readonly key: CompositeSessionKey;
  readonly birth: number;
  /** The remote's revision at its creation. */
  readonly created: number;
}

/**
 * The births that each session had in this tab. A copy that was deleted and is fetched again has another birth. Cursors
 * and handles may still name the former one, which is that of the same session.
 */
export class Births {
  /** By name of the session: the remote's `created` by birth. */
  readonly #births = new Map<string, Map<string, number>>();

  /** Remembers the birth of a session that was found. */
  note(key: CompositeSessionKey, { birth, created }: Identity): void {
    if (created === undefined) return;
    const name = nameOf(key);
    const births = this.#births.get(name) ?? new Map<string, number>();
    putLast(births, String(birth), created, MOST_BIRTHS);
    putLast(this.#births, name, births, MOST_SESSIONS);
  }

  /** Returns the last birth of each session. */
  all(): SessionBirth[] {
    return [...this.#births].flatMap(([name, births]) => {
      const key = keyOfName(name) as CompositeSessionKey;
      const last = [...births].at(-1);
      return last === undefined ? [] : [{ key, birth: Number(last[0]), created: last[1] }];
    });
  }

  /** Returns the birth that the caller knows, if it is one of the session that was found; else the present one. */
  known(key: CompositeSessionKey, asked: number | undefined, { birth, created }: Identity): number {
    if (created === undefined || asked === undefined) return birth;
    return this.#births.get(nameOf(key))?.get(String(asked)) === created ? asked : birth;
  }
}
