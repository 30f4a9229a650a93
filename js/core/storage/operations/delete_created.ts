import type { Call } from '../../call/call.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { Store, Deletion } from '../store.js';

/** How often a session is read again that has changed before it was deleted. */
const MAX_ATTEMPTS = 100;

/** Deletes a session if it is the one that was created at a revision: reads it, and deletes it if it has not changed. */
export async function deleteCreated(
  store: Pick<Store, 'read' | 'write'>,
  key: CompositeSessionKey,
  created: number,
  call: Call,
): Promise<Deletion> {
  for (let attempts = MAX_ATTEMPTS; attempts > 0; attempts -= 1) {
    const session = await store.read({ kind: 'window', key, last: 0 }, call);
    if (session?.created !== created) break;
    const { revision, labels } = session;
    const unchanged = { revision, labels };
    const write = { kind: 'delete', what: 'session', key, unchanged } as const;
    const deletion = await store.write(write, call);
    if (deletion.isDeleted) return deletion;
  }
  return { isDeleted: false };
}
