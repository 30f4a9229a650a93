import type { StorageDeleteRequest } from '../../storage/adapter.js';
import type { StateOwner } from '../../storage/scopes.js';
import type { Records } from '../records/records.js';
import {
  CLEAR,
  clearsOf,
  type Operation,
  removalsOf,
  SET,
  STATE_REFUSED,
} from '../records/session_record.js';
import type { Requests } from './requests.js';

/**
 * Sends the changes of the state of a user or an app: first what was deleted, then the values.
 *
 * @returns whether nothing of what was read is left to send
 */
export async function sendState(
  owner: StateOwner,
  { records, requests }: { readonly records: Records; readonly requests: Requests },
): Promise<boolean> {
  const all = await records.read(owner);
  if (all[STATE_REFUSED] !== undefined) return false;
  const { appName, userId } = owner;
  for (const what of clearsOf(all)) {
    const key = what === 'appState' ? { appName } : { appName, userId };
    const request = { what, key } as StorageDeleteRequest;
    await requests.ask((store, call) => store.delete(request, call));
    await records.change(owner, (present) =>
      removalsOf(present, { [CLEAR + what]: all[CLEAR + what] }),
    );
  }
  const sets = Object.entries(all).filter(([name]) => name.startsWith(SET)) as [
    string,
    Operation<unknown>,
  ][];
  if (sets.length === 0) return true;
  const values = sets.map(([name, { value }]) => [name.slice(SET.length), value]);
  const delta = JSON.stringify(Object.fromEntries(values));
  await requests.ask((store, call) => store.update(appName, userId, delta, call));
  await records.change(owner, (present) => removalsOf(present, Object.fromEntries(sets)));
  return true;
}
