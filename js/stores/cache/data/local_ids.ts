/** The local ids of sessions. */
import { putLast } from '../../../values/bounded_map.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import { keyOfName, nameOf } from '../records/cache_key.js';

/** The most sessions, and the most local ids of each, that are remembered. */
const MOST_SESSIONS = 1000;
const MOST_LOCAL_IDS = 64;

/** Which session a reader has found. */
export interface Identity {
  /** The local number that the session has here. */
  readonly localId: number;
  /** The remote's revision at its creation; absent if it is not known. */
  readonly created: number | undefined;
}

/** The local id that the last handles of a session have. */
export interface SessionLocalId {
  readonly key: CompositeSessionKey;
  readonly localId: number;
  /** The remote's revision at its creation. */
  readonly created: number;
}

/**
 * The local ids that each session had in this tab. A copy that was deleted and is fetched again has another local id.
 * Cursors and handles may still name the former one, which is that of the same session.
 */
export class LocalIds {
  /** By name of the session: the remote's `created` by local id. */
  readonly #localIds = new Map<string, Map<string, number>>();

  /** Remembers the local id of a session that was found. */
  note(key: CompositeSessionKey, { localId, created }: Identity): void {
    if (created === undefined) return;
    const name = nameOf(key);
    const localIds = this.#localIds.get(name) ?? new Map<string, number>();
    putLast(localIds, String(localId), created, MOST_LOCAL_IDS);
    putLast(this.#localIds, name, localIds, MOST_SESSIONS);
  }

  /** Returns the last local id of each session. */
  all(): SessionLocalId[] {
    return [...this.#localIds].flatMap(([name, localIds]) => {
      const key = keyOfName(name) as CompositeSessionKey;
      const last = [...localIds].at(-1);
      return last === undefined ? [] : [{ key, localId: Number(last[0]), created: last[1] }];
    });
  }

  /** Returns the local id that the caller knows, if it is one of the session that was found; else the present one. */
  known(
    key: CompositeSessionKey,
    asked: number | undefined,
    { localId, created }: Identity,
  ): number {
    if (created === undefined || asked === undefined) return localId;
    return this.#localIds.get(nameOf(key))?.get(String(asked)) === created ? asked : localId;
  }
}
