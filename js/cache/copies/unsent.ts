import { isSessionError, SessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { LocalCopies } from './local_copies.js';
import { sharedKeysOf } from './rebase.js';
import { isSession, type Pending } from '../records/pending.js';
import type { Records } from '../records/records.js';
import {
  CLEAR,
  hasOperations,
  isSent,
  nameOf,
  type OwnerRecords,
  recordedIds,
  recordOf,
  type Refusal,
  SET,
  STATE_REFUSED,
} from '../records/session_record.js';
import type { CacheKey } from '../records/status.js';

export interface UnsentParts {
  readonly local: LocalCopies;
  readonly records: Records;
  readonly pending: Pending;
  readonly report: (error: unknown) => void;
  /** Tells the other tabs that something of this key was sent or set aside. */
  readonly tell: (key: CacheKey) => void;
}

/** Finds out from the local storage what waits. */
export class Unsent {
  readonly #parts: UnsentParts;

  constructor(parts: UnsentParts) {
    this.#parts = parts;
  }

  /** Reads what waits of all users, also what an earlier visit left. */
  async scan(): Promise<void> {
    for (const owner of await this.#parts.records.owners()) await this.#scanOwner(owner);
  }

  async #scanOwner(owner: StateOwner): Promise<void> {
    const { local, report } = this.#parts;
    const all = await this.#lookAtState(owner);
    const { appName, userId } = owner;
    if (userId === undefined) return;
    // One damaged session makes the list fail. The records name the sessions too.
    const listed = await local.list(appName, userId).catch((error: unknown) => {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      report(error);
      return [];
    });
    const copies = new Map(listed.map((copy) => [copy.sessionId, copy]));
    for (const sessionId of new Set([...recordedIds(all), ...copies.keys()])) {
      if (isSent(recordOf(all, sessionId), copies.get(sessionId))) continue;
      await this.lookAt({ appName, userId, sessionId });
    }
  }

  /** Reads what waits of a session or state. */
  async lookAt(key: CacheKey): Promise<void> {
    if (isSession(key)) await this.#lookAtSession(key);
    else await this.#lookAtState(key);
  }

  async #lookAtSession(key: CompositeSessionKey): Promise<void> {
    const { local, pending, report } = this.#parts;
    const name = nameOf(key);
    const version = pending.versionOf(name);
    const { record, events, damage } = await local.unsent(key);
    if (damage !== undefined) report(damage);
    const isRefused = record.refused !== undefined;
    if (events.length === 0 && !hasOperations(record) && !isRefused) {
      pending.remove(name, version);
      return;
    }
    const keys = sharedKeysOf(events.map(({ snapshot }) => snapshot));
    pending.set(key, events.length, keys, isRefused);
  }

  async #lookAtState(key: CacheKey): Promise<OwnerRecords> {
    const { pending, records } = this.#parts;
    const name = nameOf(key);
    const version = pending.versionOf(name);
    const all = await records.read(key);
    const sets = Object.keys(all).filter((record) => record.startsWith(SET));
    if (sets.length > 0 || Object.keys(all).some((record) => record.startsWith(CLEAR))) {
      const keys = new Set(sets.map((record) => record.slice(SET.length)));
      pending.set(key, 0, keys, all[STATE_REFUSED] !== undefined);
    } else {
      pending.remove(name, version);
    }
    return all;
  }

  /** Sets a session or state aside. */
  async setAside(key: CacheKey, refusal: Refusal): Promise<void> {
    const { records, report, tell } = this.#parts;
    if (isSession(key)) await records.writeSession(key, { refused: refusal });
    else await records.write(key, { [STATE_REFUSED]: refusal });
    report(new SessionError(refusal.code, refusal.message));
    await this.lookAt(key);
    tell(key);
  }
}
