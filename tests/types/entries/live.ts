import {
  createEvent,
  type Event,
  InMemorySessionService,
  type Session,
} from '../../../js/index.js';
import type { CacheStatus } from '../../../js/service/cache/index.js';
import {
  type ListedSession,
  liveSession,
  liveSessions,
  type Question,
  type SessionRun,
  type UnsentEntry,
  type UnsentEvent,
} from '../../../js/ui/live/index.js';
import {
  createSessionHooks,
  SessionProvider,
  useCacheStatus,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
} from '../../../js/ui/react/index.js';
import * as vue from '../../../js/ui/vue/index.js';
import { describe, is, it } from '../expect.js';
import { key, service, type Shop } from '../shop.js';

const { appName, userId } = key;

describe('The types of live stores', () => {
  it('are typed by the state of the service', async () => {
    {
      const chat = liveSession(service, key, { window: 20 });
      const { state, events, unsent } = chat.getSnapshot();
      is<string | undefined>()(state.topic);
      is<readonly Event[]>()(events);
      is<Readonly<Record<string, UnsentEvent>>>()(unsent);
      is<Event>()(await chat.send({ author: 'user' }));
      is<Event | undefined>()(await chat.retry('e1'));
      is<void>()(await chat.discard('e1'));
      is<Event>()(await chat.ask({ parts: [] }, { stateDelta: { topic: 'tea' } }));
      is<Event>()(await chat.answer({ call: { confirmed: true } }));
      is<void>()(await chat.cancel());
      is<SessionRun | undefined>()(chat.getSnapshot().run);
      is<readonly Question[]>()(chat.getSnapshot().questions);
      // @ts-expect-error no such key
      void chat.ask({ parts: [] }, { stateDelta: { wrong: 1 } });
      liveSession(service, key, {
        async *run({ message }) {
          yield { author: 'guide', content: message.content ?? {} };
        },
      });
      is<boolean>()(await chat.loadOlder(10));
      await chat.updateState({ topic: 'tea' });
      await chat.rename('Tea');
      // @ts-expect-error no such key
      await chat.updateState({ wrong: 1 });
      // @ts-expect-error a snapshot is not changed
      chat.getSnapshot().status = 'ready';
      // @ts-expect-error no such option
      liveSession(service, key, { windows: 20 });
    }
  });

  it('of lists have the sessions of the service', async () => {
    {
      const list = liveSessions(service, { appName, userId, limit: 20 });
      is<readonly ListedSession<Shop>[]>()(list.getSnapshot().sessions);
      is<void>()(await list.loadMore());
      is<Session<Shop>>()(await list.create({ state: { topic: 'tea' } }));
      await list.rename({ id: 's1', userId }, null);
      // @ts-expect-error without the user
      await list.remove({ id: 's1' });
    }
  });
});

describe('The types of the hooks for React', () => {
  it('are those of the stores', async () => {
    {
      SessionProvider({ service: new InMemorySessionService(), appName, userId });
      const { session, store } = useSession({ sessionId: 's1' });
      is<'loading' | 'ready' | 'missing' | 'deleted' | 'failed' | 'forgotten'>()(session.status);
      void store.send(createEvent({ author: 'user' }));
      is<boolean>()(useSessions({ limit: 5 }).list.hasMore);
      const theme = useSessionState('user:theme', 'light');
      is<string>()(theme.value);
      void theme.set('dark');
      // @ts-expect-error another type than the default
      void theme.set(1);
      is<CacheStatus>()(useCacheStatus());
      is<readonly UnsentEntry[]>()(useUnsent());
    }
  });

  it('take undefined for every member', () => {
    {
      useSession({
        appName: undefined,
        userId: undefined,
        sessionId: undefined,
        suspense: undefined,
      });
      useSessions({ appName: undefined, userId: undefined, labels: undefined });
      vue.useSession({ appName: undefined, userId: undefined, sessionId: undefined });
      vue.useSessions({ appName: undefined, userId: undefined, labels: undefined });
    }
  });

  it('have the shape of a state that is given to createSessionHooks', async () => {
    {
      const hooks = createSessionHooks<Shop>();
      is<string>()(hooks.useSessionState('topic', 'tea').value);
      // @ts-expect-error no such key
      hooks.useSessionState('wrong', 'tea');
    }
  });
});

describe('The types of the composables for Vue', () => {
  it('are refs of what the stores have', async () => {
    {
      vue.provideSessions({ service, appName, userId, sessionId: 's1' });
      const { session, store } = vue.useSession<Shop>();
      is<string | undefined>()(session.value.state.topic);
      void store.value.send({ author: 'user' });
      const theme = vue.useSessionState('user:theme', 'light');
      is<string>()(theme.value);
      vue.useSessions();
      is<boolean>()(vue.useCacheStatus().value.isOnline);
      is<readonly UnsentEntry[]>()(vue.useUnsent().value);
    }
  });
});
