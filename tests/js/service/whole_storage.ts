import { mapStorage } from '../../../examples/map_storage.js';
import type { Deleted, Storage, StorageListRequest } from '../../../js/core/storage/index.js';
import { sortList } from '../../../js/core/storage/list_place.js';

/** The storage over maps of the examples, with titles, labels and conditional deletions. */
export function wholeStorage(): Storage {
  const storage = mapStorage();
  const none = { user: undefined, app: undefined, events: [] };
  const rowsOf = { scopes: ['session'], eventIds: [], since: Number.MAX_SAFE_INTEGER } as const;
  return {
    ...storage,
    describe({ key, title, labels }) {
      let isThere = false;
      void storage.append({ key, ...rowsOf }, ({ session }) => {
        isThere = session !== undefined;
        if (session === undefined) return undefined;
        const changed = { title: title ?? session.title, labels: labels ?? session.labels };
        return { ...none, session: { ...session, ...changed } };
      });
      return isThere;
    },
    deleteUnchanged({ key, revision, labels }) {
      let isSame = false;
      void storage.append({ key, ...rowsOf }, ({ session }) => {
        const isLabelled = (session?.labels ?? '') === (labels ?? '');
        isSame = session?.revision === revision && isLabelled;
        return undefined;
      });
      if (!isSame) return false;
      return storage.delete({ what: 'session', key }) as Deleted;
    },
  };
}

/** The same storage, but it cuts lists itself. @param asked gets its requests */
export function storageOfParts(asked: StorageListRequest[] = []): Storage {
  const storage = wholeStorage();
  return {
    ...storage,
    listsParts: true,
    async list(request) {
      asked.push(request);
      const { limit, offset, ...others } = request;
      const all = await storage.list({ ...others, offset: 0 });
      const end = limit === undefined ? undefined : offset + limit;
      const sessions = sortList(all.sessions, request).slice(offset, end);
      const users = all.users.filter(({ userId }) => sessions.some((row) => row.userId === userId));
      return { ...all, users, sessions, total: all.sessions.length };
    },
  };
}
