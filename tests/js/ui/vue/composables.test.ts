// The composables with the real Vue. Components are rendered into plain objects instead of a page.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type Component,
  createRenderer,
  createSSRApp,
  defineComponent,
  h,
  nextTick,
  ref,
  watch,
} from 'vue';
import { renderToString } from 'vue/server-renderer';

import { InMemorySessionService, type SessionService } from '../../../../js/index.js';
import {
  provideSessions,
  type SessionRefs,
  useArtifact,
  useCacheStatus,
  useSearch,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
} from '../../../../js/ui/vue/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { isWatched, KEY, message, sessionOf } from '../live/stores.js';

interface Node {
  text: string;
  readonly children: Node[];
  parent: Node | null;
}

const makeNode = (text = ''): Node => ({ text, children: [], parent: null });

function remove(node: Node): void {
  const siblings = node.parent?.children ?? [];
  if (siblings.includes(node)) siblings.splice(siblings.indexOf(node), 1);
}

const { createApp } = createRenderer<Node, Node>({
  createElement: () => makeNode(),
  createText: makeNode,
  createComment: () => makeNode(),
  setText: (node, text) => (node.text = text),
  setElementText: (node, text) => (node.text = text),
  parentNode: (node) => node.parent,
  nextSibling: (node) => node.parent?.children[node.parent.children.indexOf(node) + 1] ?? null,
  insert(node, parent, anchor) {
    remove(node);
    const at = anchor ? parent.children.indexOf(anchor) : parent.children.length;
    parent.children.splice(at, 0, node);
    node.parent = parent;
  },
  remove,
  patchProp: () => undefined,
});

const textOf = ({ text, children }: Node): string => text + children.map(textOf).join('');

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !condition(); tries += 1) {
    await new Promise((done) => setTimeout(done, 2));
  }
  assert.ok(condition(), condition.toString());
}

function mount(service: SessionService, child: Component, names: object = KEY) {
  const root = makeNode();
  const app = createApp(
    defineComponent(() => {
      provideSessions(() => ({ service, ...KEY, ...names }));
      return () => h(child);
    }),
  );
  app.mount(root);
  return { text: () => textOf(root), unmount: () => app.unmount() };
}

describe('The composables for Vue', () => {
  it('show a session, send, change its state, and leave nothing behind', async () => {
    const { service, session } = await sessionOf(2);
    let send: (() => Promise<unknown>) | undefined;
    let setTheme: ((theme: string) => void) | undefined;
    const Chat = defineComponent(() => {
      const { session, store } = useSession();
      const { list } = useSessions();
      const theme = useSessionState('user:theme', 'light');
      send = () => store.value.send(message('e4'));
      setTheme = (value) => (theme.value = value);
      return () => {
        const { status, events } = session.value;
        return h('p', `${status} ${events.length} ${list.value.sessions.length} ${theme.value}`);
      };
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => text() === 'ready 2 1 light');
    await service.appendEvent({ session, event: message('e3') });
    await until(() => text() === 'ready 3 1 light');
    await send?.();
    setTheme?.('dark');
    await until(() => text() === 'ready 5 1 dark');
    assert.deepEqual(await service.getUserState(KEY), { theme: 'dark' });
    assert.ok(isWatched(service));
    unmount();
    assert.ok(!isWatched(service));
  });

  it('ask the agent that is provided, show its draft, and cancel its run', async () => {
    const { service } = await sessionOf(1);
    let wasAborted = false;
    const run: RunAgent = async function* ({ signal }) {
      yield { author: 'guide', partial: true, content: { parts: [{ text: 'Green' }] } };
      await new Promise<void>((done) => signal.addEventListener('abort', () => done()));
      wasAborted = true;
    };
    let store: SessionRefs['store'] | undefined;
    const Chat = defineComponent(() => {
      const { session, store: own } = useSession();
      store = own;
      return () => {
        const { drafts, run } = session.value;
        const texts = drafts.map(({ content }) => content?.parts?.[0]?.text);
        return h('p', `${run?.status} ${texts.join()}`);
      };
    });
    const { text, unmount } = mount(service, Chat, { run });
    await store?.value.ask({ role: 'user', parts: [{ text: 'Which tea?' }] });
    await until(() => text() === 'running Green');
    await store?.value.cancel();
    await until(() => text() === 'cancelled ');
    assert.ok(wasAborted);
    const events = (await service.getSession(KEY))?.events.slice(1) ?? [];
    const texts = events.map(({ content }) => content?.parts?.[0]?.text);
    assert.deepEqual(texts, ['Which tea?', 'Green', undefined]);
    unmount();
  });

  it('search again when a session changes, and for another query', async () => {
    const { service, session } = await sessionOf(0);
    const query = ref('green');
    const Hits = defineComponent(() => {
      const { search } = useSearch(() => ({ query: query.value }));
      return () => h('p', `${search.value.status} ${search.value.hits.length}`);
    });
    const { text, unmount } = mount(service, Hits);
    await until(() => text() === 'ready 0');
    await service.appendEvent({ session, event: message('e1', 'Green tea') });
    await until(() => text() === 'ready 1');
    query.value = 'black';
    await until(() => text() === 'ready 0');
    query.value = ' %';
    await until(() => text() === 'ready 0');
    query.value = 'TEA';
    await until(() => text() === 'ready 1');
    unmount();
    assert.ok(!isWatched(service));
  });

  it('take a service that is provided in a ref', async () => {
    const { service } = await sessionOf(2);
    const provided = ref({ service, ...KEY });
    const Chat = defineComponent(() => {
      const { session } = useSession();
      return () => h('p', `${session.value.status} ${session.value.events.length}`);
    });
    const root = makeNode();
    const app = createApp(
      defineComponent(() => {
        provideSessions(provided as never);
        return () => h(Chat);
      }),
    );
    app.mount(root);
    await until(() => textOf(root) !== 'loading 0');
    assert.equal(textOf(root), 'ready 2');
    provided.value.sessionId = 's2';
    await until(() => textOf(root) === 'missing 0');
    app.unmount();
  });

  it('create a session with the initial state that is provided, or with their own', async () => {
    for (const [own, topic] of [
      [undefined, 'provided'],
      [{ topic: 'own' }, 'own'],
    ] as const) {
      const service = new InMemorySessionService();
      let store: SessionRefs['store'] | undefined;
      const Chat = defineComponent(() => {
        ({ store } = useSession({ initialState: own }));
        return () => h('p');
      });
      const { unmount } = mount(service, Chat, { initialState: { topic: 'provided' } });
      await store?.value.send(message('e1'));
      assert.deepEqual((await service.getSession(KEY))?.state, { topic });
      unmount();
    }
  });

  it('follow another session when its id changes', async () => {
    const { service } = await sessionOf(2);
    await service.createSession({ ...KEY, sessionId: 's2', state: { topic: 'tea' } });
    const sessionId = ref('s1');
    const Chat = defineComponent(() => {
      const { session } = useSession(() => ({ sessionId: sessionId.value }));
      return () => h('p', JSON.stringify([session.value.events.length, session.value.state]));
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => text() === '[2,{}]');
    sessionId.value = 's2';
    await until(() => text() === '[0,{"topic":"tea"}]');
    unmount();
    assert.ok(!isWatched(service));
  });

  it('never give what another session had, from the moment that the id changes', async () => {
    const { service } = await sessionOf(2);
    await service.createSession({ ...KEY, sessionId: 's2' });
    const sessionId = ref('s1');
    let read: (() => unknown[]) | undefined;
    let assign: ((value: unknown) => void) | undefined;
    const Chat = defineComponent(() => {
      const names = () => ({ sessionId: sessionId.value });
      const { session, store } = useSession(names);
      const topic = useSessionState<unknown>('topic', 'none', names);
      assign = (value) => (topic.value = value);
      read = () => [store.value.key.sessionId, session.value.events.length, topic.value];
      return () => h('p', JSON.stringify(read?.()));
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => text() === '["s1",2,"none"]');
    assign?.('tea');
    assert.deepEqual(read?.(), ['s1', 2, 'tea']);
    sessionId.value = 's2';
    assert.deepEqual(read?.(), ['s2', 0, 'none']);
    await until(() => text() === '["s2",0,"none"]');
    sessionId.value = 's1';
    await until(() => text() === '["s1",3,"tea"]');
    unmount();
  });

  it('take what is provided for names that are undefined', async () => {
    const { service } = await sessionOf(1);
    await service.createSession({ ...KEY, userId: 'bob' });
    const Chat = defineComponent(() => {
      const { session } = useSession({ sessionId: undefined, userId: undefined });
      const { list } = useSessions({ userId: undefined });
      return () => h('p', `${session.value.events.length} ${list.value.sessions.length}`);
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => text() === '1 1');
    unmount();
  });

  it('show an assigned value at once, and the stored one if it was refused', async () => {
    const { service } = await sessionOf(0);
    const errors: unknown[] = [];
    globalThis.reportError = (error: unknown) => void errors.push(error);
    let assign: ((value: unknown) => void) | undefined;
    let read: (() => unknown) | undefined;
    const Chat = defineComponent(() => {
      const value = useSessionState<unknown>('a', 0);
      assign = (given) => (value.value = given);
      read = () => value.value;
      return () => h('p', String(value.value));
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => text() === '0');
    assign?.(1);
    assert.equal(read?.(), 1);
    await until(() => text() === '1');
    assign?.(2n);
    assert.equal(read?.(), 2n);
    await until(() => errors.length === 1);
    assert.equal(read?.(), 1);
    assert.match(String(errors[0]), /BigInt/i);
    Reflect.deleteProperty(globalThis, 'reportError');
    unmount();
  });

  it('never show the value before an assigned one again, and the fallback for a removed one', async () => {
    const { service } = await sessionOf(0);
    const shown: unknown[] = [];
    let assign: ((value: unknown) => void) | undefined;
    const Chat = defineComponent(() => {
      const value = useSessionState<unknown>('a', 0);
      assign = (given) => (value.value = given);
      const later = useSessionState('later', 0);
      watch(value, (value) => shown.push(value), { flush: 'sync' });
      return () => h('p', `${String(value.value)} ${later.value}`);
    });
    const { text, unmount } = mount(service, Chat);
    await until(() => isWatched(service));
    for (const [turn, value] of [1, undefined].entries()) {
      assign?.(value);
      const isStored = async () => (await service.getSession(KEY))?.state.a === value;
      while (!(await isStored())) await new Promise(setImmediate);
      // A later change is shown after everything that this one causes.
      await service.updateState({ ...KEY, stateDelta: { later: turn + 1 } });
      await until(() => text() === `${value ?? 0} ${turn + 1}`);
    }
    assert.deepEqual(shown, [1, 0]);
    unmount();
  });

  it('give the loading snapshot on a server, and read nothing', async () => {
    const { service } = await sessionOf(2);
    const Chat = defineComponent(() => {
      const { session } = useSession();
      const theme = useSessionState('user:theme', 'light');
      return () => h('p', `${session.value.status} ${theme.value}`);
    });
    const app = createSSRApp(
      defineComponent(() => {
        provideSessions({ service, ...KEY });
        return () => h(Chat);
      }),
    );
    assert.equal(await renderToString(app), '<p>loading light</p>');
    assert.ok(!isWatched(service));
  });

  it('show what a cache is doing, and what its remote refused', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    await cache.createSession(KEY);
    await cache.sync();
    let discard: (() => Promise<void>) | undefined;
    const Connection = defineComponent(() => {
      const [status, unsent] = [useCacheStatus(), useUnsent()];
      return () => {
        ({ discard } = unsent.value[0] ?? {});
        const refused = unsent.value.map(({ error }) => error?.code);
        return h('p', `${status.value.pending.length} ${refused.join()}`);
      };
    });
    const { text, unmount } = mount(cache, Connection);
    server.intercept = (request) =>
      Promise.resolve(
        request.method === 'PATCH'
          ? Response.json({ code: 'schema_violation', detail: 'No.' }, { status: 422 })
          : undefined,
      );
    await cache.updateSession(KEY, { title: 'Tea' });
    await until(() => text() === '1 schema_violation');
    await discard?.();
    await until(() => text() === '0 ');
    unmount();
    await cache.close();
  });

  it('are online, and have nothing unsent over a service without a cache', async () => {
    const service = new InMemorySessionService();
    const Connection = defineComponent(() => {
      const [status, unsent] = [useCacheStatus(), useUnsent()];
      return () => h('p', `${status.value.isOnline} ${unsent.value.length}`);
    });
    const { text, unmount } = mount(service, Connection);
    await until(() => text() === 'true 0');
    unmount();
  });

  it('show a file, and revoke its URL when another one is shown', async () => {
    const service = new InMemorySessionService({ artifacts: true });
    await service.createSession(KEY);
    for (const [filename, text] of [
      ['a.txt', 'a'],
      ['b.txt', 'b'],
    ] as const) {
      await service.artifacts.put({
        ...KEY,
        filename,
        data: new Blob([text]),
        mimeType: 'text/plain',
      });
    }
    const name = ref('a.txt');
    let url: string | undefined;
    const File = defineComponent(() => {
      const artifact = useArtifact(() => ({ name: name.value }));
      return () => {
        ({ url } = artifact.value);
        return h('p', `${name.value} ${artifact.value.status}`);
      };
    });
    const { text, unmount } = mount(service, File);
    await until(() => text() === 'a.txt ready');
    const first = url!;
    assert.equal(await (await fetch(first)).text(), 'a');
    name.value = 'b.txt';
    await until(() => text() === 'b.txt ready' && url !== first);
    await assert.rejects(fetch(first));
    assert.equal(await (await fetch(url!)).text(), 'b');
    unmount();
    await assert.rejects(fetch(url!));
  });

  it('show nothing, ask nothing and refuse changes until the user is known', async () => {
    const { service } = await sessionOf(2);
    const provided = ref<{ userId: string | undefined }>({ userId: undefined });
    let store: SessionRefs['store'] | undefined;
    const Page = defineComponent(() => {
      const { session, store: own } = useSession();
      store = own;
      const { list } = useSessions();
      const { search } = useSearch({ query: 'e1' });
      const file = useArtifact({ name: 'tea.png' });
      const theme = useSessionState('user:theme', 'light');
      return () => {
        const { status, events } = session.value;
        const counts = [events.length, list.value.sessions.length, search.value.hits.length];
        return h(
          'p',
          [status, list.value.status, file.value.status, theme.value, counts].join(' '),
        );
      };
    });
    const root = makeNode();
    const app = createApp(
      defineComponent(() => {
        provideSessions(() => ({ service, ...KEY, ...provided.value }));
        return () => h(Page);
      }),
    );
    app.mount(root);
    await nextTick();
    assert.equal(textOf(root), 'missing ready loading light 0,0,0');
    assert.ok(!isWatched(service));
    const refusal = { code: 'invalid_argument', key: 'userId' };
    await assert.rejects(store!.value.ask('Which tea?'), refusal);
    await assert.rejects(store!.value.send(message('e3')), refusal);
    provided.value = { userId: 'ada' };
    await until(() => textOf(root) === 'ready ready failed light 2,1,1');
    await store!.value.send(message('e3'));
    await until(() => textOf(root) === 'ready ready failed light 3,1,1');
    provided.value = { userId: undefined };
    await until(() => textOf(root) === 'missing ready loading light 0,0,0');
    assert.ok(!isWatched(service));
    app.unmount();
  });

  it('show a missing session on a server while its user is undefined', async () => {
    const { service } = await sessionOf(2);
    const app = createSSRApp(
      defineComponent(() => {
        provideSessions({ service, ...KEY, userId: undefined });
        const Chat = defineComponent(() => {
          const { session } = useSession();
          return () => h('p', session.value.status);
        });
        return () => h(Chat);
      }),
    );
    assert.equal(await renderToString(app), '<p>missing</p>');
  });

  it('refuse a component for which nothing is provided', () => {
    const Chat = defineComponent(() => {
      const { session } = useSession();
      return () => h('p', session.value.status);
    });
    const alone = createApp(Chat);
    alone.config.warnHandler = () => undefined;
    assert.throws(() => alone.mount(makeNode()), { code: 'invalid_argument' });
  });
});
