import { after, type MaybePromise } from '../../call/call.js';
import type { CompositeSessionKey } from '../../model/session.js';
import type { Backend, BackendRequest, Deletion } from '../backend.js';

/** How often a session is read again that has changed before it was deleted. */
const MAX_ATTEMPTS = 100;

/** A session that is deleted only if it was created at a revision. */
interface DeleteCreatedRequest extends BackendRequest {
  readonly key: CompositeSessionKey;
  readonly created: number;
}

/** Deletes a session if it is the one that was created at a revision: reads it, and deletes it if it has not changed. */
export function deleteCreated(
  backend: Pick<Backend, 'get' | 'deleteUnchanged'>,
  request: DeleteCreatedRequest,
  attempts = MAX_ATTEMPTS,
): MaybePromise<Deletion> {
  const { key, created, call } = request;
  return after(backend.get({ key, last: 0, call }), (session) => {
    if (session?.created !== created || attempts === 0) return { isDeleted: false };
    const { revision, labels } = session;
    return after(backend.deleteUnchanged({ key, revision, labels, call }), (deletion) =>
      deletion.isDeleted ? deletion : deleteCreated(backend, request, attempts - 1),
    );
  });
}
