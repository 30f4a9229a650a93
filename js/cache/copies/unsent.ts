import { isSessionError } from '../../errors/errors.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { StateOwner } from '../../storage/scopes.js';
import { stateWrites } from './created_with.js';
import type { CacheContext } from './context.js';
import { sharedKeysOf } from './rebase.js';
import { errorOf } from './remote_end.js';
import { isSession } from '../records/pending.js';
import { Groups } from '../records/turns.js';
import {
  clearsOf,
  hasOperations,
  isSent,
  isUnsentState,
  nameOf,
  recordOf,
  type Refusal,
  SESSION,
  SET,
  STATE_REFUSED,
  withoutPrefix,
} from '../records/session_record.js';
import type { CacheKey } from '../records/status.js';

/** Finds out from the local storage what waits. */
export class Unsent {
  readonly #context: CacheContext;
  /** One look at a key after the other, so that an earlier one never overwrites what a later one has seen. */
  readonly #looks = new Groups<CacheKey>(([key]) =>
    isSession(key) ? this.#lookAtSession(key) : this.#lookAtState(key),
  );

  constructor(context: CacheContext) {
    this.#context = context;
  }

  /**
   * Finds what waits of all users and is not known yet, for example from an earlier visit.
   *
   * @returns the users and the apps
   */
  async scan(): Promise<StateOwner[]> {
    const owners = await this.#context.records.owners();
    for (const owner of owners) await this.#scanOwner(owner);
    return owners;
  }

  async #scanOwner(owner: StateOwner): Promise<void> {
    const { local, records, pending, report } = this.#context;
    const { appName, userId } = owner;
    await this.lookAt(owner);
    if (userId === undefined) return;
    const all = await records.read(owner);
    // One damaged session makes the list fail. The records name the sessions too.
    const listed = await local.list(appName, userId).catch((error: unknown) => {
      if (!isSessionError(error, 'corrupt_record')) throw error;
      report(error);
      return [];
    });
    const copies = new Map(listed.map((copy) => [copy.sessionId, copy]));
    const ids = new Set([...Object.keys(withoutPrefix(all, SESSION)), ...copies.keys()]);
    const keys = [...ids].map((sessionId) => ({ appName, userId, sessionId }));
    const isUnknown = (key: CompositeSessionKey): boolean =>
      !pending.isReady(nameOf(key)) &&
      !isSent(recordOf(all, key.sessionId), copies.get(key.sessionId));
    await Promise.all(keys.filter(isUnknown).map((key) => this.lookAt(key)));
  }

  /** Reads what waits of a session or state. */
  lookAt(key: CacheKey): Promise<void> {
    return this.#looks.call(nameOf(key), key);
  }

  async #lookAtSession(key: CompositeSessionKey): Promise<void> {
    const { local, pending, report } = this.#context;
    const name = nameOf(key);
    const version = pending.versionOf(name);
    const { copy: { events } = { events: [] }, record, damage } = await local.unsent(key);
    const isKnown = pending.has(name) && !pending.isReady(name);
    // Reported once: else each list of the outbox would change the status.
    if (damage !== undefined && !isKnown) report(damage);
    const { refused: refusal } = record;
    if (events.length === 0 && !hasOperations(record) && refusal === undefined) {
      pending.remove(name, version);
      return;
    }
    // A change that came after the read would be lost.
    if (pending.versionOf(name) !== version) return this.#lookAtSession(key);
    const ids = new Set(events.map(({ id }) => id));
    const keys = sharedKeysOf(stateWrites(events, record.create?.value));
    pending.set(key, { ids, keys, clears: [], refusal });
  }

  async #lookAtState(key: CacheKey): Promise<void> {
    const { pending, records } = this.#context;
    const name = nameOf(key);
    const version = pending.versionOf(name);
    const all = await records.read(key);
    if (!Object.keys(all).some(isUnsentState)) {
      pending.remove(name, version);
      return;
    }
    if (pending.versionOf(name) !== version) return this.#lookAtState(key);
    const keys = new Set(Object.keys(withoutPrefix(all, SET)));
    const refusal = all[STATE_REFUSED] as Refusal | undefined;
    pending.set(key, { ids: new Set(), keys, clears: clearsOf(all), refusal });
  }

  /**
   * Whether a deletion of the session's user, or of the user's state, is to be sent first. Another tab, or an earlier
   * visit, may have recorded it. Call this after the session was read: whatever was written after the deletion waits.
   */
  async isBlocked({ appName, userId }: CompositeSessionKey): Promise<boolean> {
    const owner = { appName, userId };
    const all = await this.#context.records.read(owner);
    if (clearsOf(all).length === 0 || all[STATE_REFUSED] !== undefined) return false;
    await this.lookAt(owner);
    return true;
  }

  /** Sets a session or state aside. */
  async setAside(key: CacheKey, refusal: Refusal): Promise<void> {
    const { records, report, tell } = this.#context;
    if (isSession(key)) await records.changeSession(key, () => ({ refused: refusal }));
    else await records.change(key, () => ({ [STATE_REFUSED]: refusal }));
    report(errorOf(refusal));
    await this.lookAt(key);
    tell(key);
  }
}
