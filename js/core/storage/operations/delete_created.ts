import { after, type Call, type MaybePromise } from '../../call/call.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { Store, Deletion } from '../store.js';

/** How often a session is read again that has changed before it was deleted. */
const MAX_ATTEMPTS = 100;

/** Deletes a session if it is the one that was created at a revision: reads it, and deletes it if it has not changed. */
export function deleteCreated(
  store: Pick<Store, 'read' | 'write'>,
  key: CompositeSessionKey,
  created: number,
  call: Call,
  attempts = MAX_ATTEMPTS,
): MaybePromise<Deletion> {
  return after(store.read({ kind: 'window', key, last: 0 }, call), (session) => {
    if (session?.created !== created || attempts === 0) return { isDeleted: false };
    const { revision, labels } = session;
    const write = {
      kind: 'delete',
      what: 'session',
      key,
      unchanged: { revision, labels },
    } as const;
    return after(store.write(write, call), (deletion) =>
      deletion.isDeleted ? deletion : deleteCreated(store, key, created, call, attempts - 1),
    );
  });
}
