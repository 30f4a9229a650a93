import { openSessionService } from '../../js/index.js';
import type {
  Changes,
  Decide,
  EventRow,
  Found,
  Listing,
  Rows,
  SessionRow,
  SharedRow,
  Storage,
  StorageDeleteRequest,
  StorageKey,
  StorageListRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../../js/core/storage/index.js';
import type { OwnStorage } from '../../js/core/storage/store.js';
import { compiled, describe, is, it } from './expect.js';

const rows: Rows = { user: undefined, app: undefined, events: [] };
const listing: Listing = { sessions: [], users: [], app: undefined, total: 0 };

describe('A storage', () => {
  it('can return values or promises', async () => {
    const now: Storage = {
      create: () => undefined,
      append: () => undefined,
      read: () => rows,
      list: () => listing,
      delete: () => undefined,
    };
    const later: Storage = {
      kind: 'later',
      durable: true,
      create: () => Promise.resolve(),
      append: () => Promise.resolve(),
      read: () => Promise.resolve(rows),
      list: () => Promise.resolve(listing),
      delete: () => Promise.resolve(),
      readPage: () => Promise.resolve({ events: [], eventCount: 0 }),
      listsParts: true,
      close: () => Promise.resolve(),
    };
    compiled(() => [openSessionService({ storage: now }), openSessionService({ storage: later })]);
  });

  it('must have all five verbs with the right result types', async () => {
    {
      // @ts-expect-error four verbs are missing
      const lacking: Storage = { create: () => undefined };
      const uncounted: Listing = { sessions: [], users: [], app: undefined };
      // @ts-expect-error a listing has the states of its users
      const wrong: Listing = { sessions: [], app: undefined, total: 0 };
      // @ts-expect-error rows have events
      const none: Rows = { user: undefined, app: undefined };
      // @ts-expect-error rows have each shared state, or say that it is not stored
      const forgotten: Rows = { user: undefined, events: [] };
      return [lacking, uncounted, wrong, none, forgotten];
    }
  });

  it('has none of the members that only storages of this package have', async () => {
    type OwnMember = 'describing' | 'onFailure' | 'readParsed' | 'traits' | 'words';
    is<OwnMember>()({} as Exclude<keyof OwnStorage, keyof Storage>);
  });

  it('gets a deletion whose type says which ids it has', async () => {
    compiled((): void => {
      const request = {} as StorageDeleteRequest;
      switch (request.what) {
        case 'session':
          is<string>()(request.key.sessionId);
          break;
        case 'user':
        case 'userState':
          is<string>()(request.key.userId);
          // @ts-expect-error a user has no session
          void request.key.sessionId;
          break;
        case 'appState':
          is<string>()(request.key.appName);
          break;
        default:
          is<never>()(request);
      }
    });
  });

  it('cannot change requests or decisions', async () => {
    compiled((): void => {
      const write = {} as StorageWriteRequest;
      const changes = {} as Changes;
      // @ts-expect-error read-only
      write.since = 0;
      // @ts-expect-error read-only
      write.eventIds.push('x');
      // @ts-expect-error read-only
      changes.events[0] = {} as EventRow;
    });
  });

  it('passes rows to a decision, and gets changes or nothing', async () => {
    is<(found: Found) => Changes | undefined>()({} as Decide);
    const session: SessionRow = { appName: 'a', userId: 'u', sessionId: 's', created: 1, revision: 1, lastUpdateTime: 0, state: '{}' }; // prettier-ignore
    const scope: SharedRow = { revision: 1, state: '{}' };
    const event: EventRow = { id: 'e', seq: 1, revision: 1, timestamp: 0, text: '{}' };
    const found: Found = { session, user: scope, app: undefined, events: [event], changed: [], floor: 0 }; // prettier-ignore
    {
      // @ts-expect-error a decision wants to know the floor
      const lacking: Found = { user: undefined, app: undefined, events: [], changed: [] };
      const key: StorageKey = { appName: 'a' };
      const read: StorageReadRequest = { key, window: { last: 5 } };
      const list: StorageListRequest = { appName: 'a', order: 'asc', offset: 0 };
      return [lacking, read, list];
    }
  });
});
