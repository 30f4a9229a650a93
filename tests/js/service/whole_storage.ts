import { mapStorage } from '../../../examples/map_storage.js';
import type { Deleted, Storage } from '../../../js/storage/index.js';

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
