import { createEvent, InMemorySessionService, type Session } from '../../../js/index.js';
import {
  type CachedSessionOptions,
  CachedSessionService,
  type CacheLoss,
  type CacheStatus,
  MemoryLocalStore,
  type OutboxEntry,
} from '../../../js/service/cache/index.js';
import { describe, is, it } from '../expect.js';
import { key, type Shop } from '../shop.js';

const owner = 'ada';

describe('The types of the cache', () => {
  it('are those of every service, with the shape of the state', async () => {
    const remote = new InMemorySessionService<Shop>();
    const local = new MemoryLocalStore();
    const service = new CachedSessionService<Shop>({ remote, local, owner });
    {
      const session = await service.getSession({ ...key, config: { reads: 'cache-only' } });
      is<Session<Shop> | undefined>()(session);
      await service.appendEvent({ session: session!, event: createEvent({ author: 'user' }) });
      is<CacheStatus>()(service.status);
      is<OutboxEntry[]>()(await service.outbox.list());
      is<void>()(await service.outbox.retry(key));
      is<void>()(await service.outbox.drop(key, 'e1'));
      is<void>()(await service.sync({ appName: 'shop', userId: 'ada' }));
      is<void>()(await service.forget());
      is<CacheLoss | undefined>()(service.status.lost);
      is<void>()(await service.acknowledgeLoss());
      is<() => void>()(service.watchStatus((status) => is<CacheStatus>()(status)));
      // @ts-expect-error an outbox has an entry for each session, not for an event
      await service.outbox.retry('e1');
      // @ts-expect-error no such policy
      await service.getSession({ ...key, config: { reads: 'never' } });
      // @ts-expect-error no such key
      await service.updateState({ ...key, stateDelta: { topic: 'tea', wrong: 1 } });
    }
    await service.close();
  });

  it('tell which options there are', async () => {
    const remote = new InMemorySessionService();
    {
      const options: CachedSessionOptions = { remote, owner, write: 'through', maxSessions: 5 };
      // @ts-expect-error the owner is needed
      const empty: CachedSessionOptions = { remote };
      return [options, empty];
    }
  });
});
