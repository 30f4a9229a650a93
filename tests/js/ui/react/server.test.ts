// The hooks where there is no page: on a server.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createElement, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import { renderToReadableStream, renderToString } from 'react-dom/server';

import { InMemorySessionService } from '../../../../js/index.js';
import type { LiveSession } from '../../../../js/ui/live/index.js';
import {
  SessionProvider,
  type SetSessionState,
  useArtifact,
  useCacheStatus,
  useSearch,
  useSession,
  useSessions,
  useSessionState,
  useUnsent,
  type UseSessionOptions,
} from '../../../../js/ui/react/index.js';
import { isWatched, KEY, message, sessionOf } from '../live/stores.js';

const { sessionId, ...USER } = KEY;

function Chat({ suspense = false }: { suspense?: boolean }): ReactElement {
  const { status, events } = useSession({ sessionId, suspense }).session;
  const { list } = useSessions();
  const theme = useSessionState('user:theme', 'light', { sessionId });
  const { search } = useSearch({ query: 'tea' });
  const texts = [status, events.length, list.status, theme.value, search.status];
  return createElement('p', null, texts.join(' '));
}

const app = (service: InMemorySessionService, child: ReactNode): ReactElement =>
  createElement(SessionProvider, { service, ...USER }, child);

describe('On a server, the hooks', () => {
  it('give the loading snapshot and the fallback value, and read nothing', async () => {
    const { service } = await sessionOf(2);
    const text = renderToString(app(service, createElement(Chat)));
    assert.equal(text, '<p>loading 0 loading light loading</p>');
    assert.ok(!isWatched(service));
  });

  it('with suspense render the fallback of the boundary', async () => {
    const { service } = await sessionOf(2);
    const boundary = createElement(
      Suspense,
      { fallback: 'please wait' },
      createElement(Chat, { suspense: true }),
    );
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const stream = await renderToReadableStream(app(service, boundary), { onError });
    await stream.allReady;
    const text = await new Response(stream).text();
    assert.match(text, /please wait/);
    assert.doesNotMatch(text, /<p>/);
    assert.match(String(errors[0]), /getServerSnapshot/);
    assert.ok(!isWatched(service));
  });

  it('take what is provided for names that are undefined', async () => {
    const { service } = await sessionOf(0);
    let id: string | undefined;
    const Chat = (): ReactElement => {
      id = useSession({ sessionId: undefined, userId: undefined }).store.key.sessionId;
      return createElement('p', null, useSessions({ userId: undefined }).list.status);
    };
    renderToString(createElement(SessionProvider, { service, ...KEY }, createElement(Chat)));
    assert.equal(id, sessionId);
  });

  it('compute a value from the stored one, and from nothing inherited', async () => {
    const { service } = await sessionOf(0);
    const given: unknown[] = [];
    let set: SetSessionState<number> | undefined;
    const Count = (): ReactElement => {
      const count = useSessionState('constructor', 0, { sessionId });
      set = count.set;
      return createElement('p', null, count.value);
    };
    renderToString(app(service, createElement(Count)));
    for (const next of [1, 2]) {
      await set?.((stored) => {
        given.push(stored);
        return next;
      });
    }
    assert.deepEqual(given, [undefined, 1]);
  });

  /** Renders a component of two keys, one after the other, twice each. Returns the fallbacks that it shows. */
  function fallbacksOf(service: InMemorySessionService, cartOf: (key: string) => string[]) {
    const carts: string[][] = [];
    const Cart = (): ReactElement => {
      const [turn, setTurn] = useState(0);
      const key = turn < 2 ? 'cart' : 'other';
      const { value: cart } = useSessionState<string[]>(key, cartOf(key), { sessionId });
      carts.push(cart);
      // Renders it again.
      if (turn < 3) setTurn(turn + 1);
      return createElement('p', null, cart);
    };
    renderToString(app(service, createElement(Cart)));
    return carts;
  }

  it('give an absent value the first fallback of the component at each render', async () => {
    const { service } = await sessionOf(0);
    const carts = fallbacksOf(service, (key) => [key]);
    const [first, other] = [carts[0], carts.at(-1)];
    assert.deepEqual([first, other], [['cart'], ['other']]);
    assert.ok(carts.every((cart) => cart === first || cart[0] === 'other'));
    assert.equal(carts.at(-2), other);
  });

  it('give each component its own fallback', async () => {
    const { service } = await sessionOf(0);
    assert.deepEqual(fallbacksOf(service, () => ['tea'])[0], ['tea']);
    assert.deepEqual(fallbacksOf(service, () => ['coffee'])[0], ['coffee']);
  });

  it('are online, and have nothing unsent', async () => {
    const { service } = await sessionOf(0);
    const Connection = (): ReactElement => {
      const { isOnline, pending } = useCacheStatus();
      return createElement('p', null, [isOnline, pending.length, useUnsent().length].join(' '));
    };
    assert.equal(renderToString(app(service, createElement(Connection))), '<p>true 0 0</p>');
    assert.throws(() => renderToString(createElement(Connection)), { code: 'invalid_argument' });
  });

  const provided = { 'user:theme': 'dark' };
  const created = [
    ['the provider', {}, provided],
    ['useSession', { initialState: { topic: 'tea' } }, { topic: 'tea' }],
  ] as const;
  for (const [place, options, state] of created) {
    it(`create a session with the initial state that ${place} has, by its first message`, async () => {
      const service = new InMemorySessionService();
      let store: LiveSession | undefined;
      const Chat = ({ options }: { options: UseSessionOptions }): null => {
        ({ store } = useSession(options));
        return null;
      };
      const chats = [options, {}].map((options, key) => createElement(Chat, { key, options }));
      const names = { service, ...KEY, initialState: provided };
      renderToString(createElement(SessionProvider, names, chats));
      await store?.send(message('e1'));
      assert.deepEqual((await service.getSession(KEY))?.state, state);
    });
  }

  it('refuse a component without a provider', () => {
    const Alone = (): ReactElement => createElement('p', null, useSession().session.status);
    assert.throws(() => renderToString(createElement(Alone)), { code: 'invalid_argument' });
  });

  for (const name of ['appName', 'userId', 'sessionId'] as const) {
    it(`show nothing and refuse changes while ${name} is undefined`, async () => {
      const { service } = await sessionOf(2);
      const names = { service, ...KEY, [name]: undefined };
      const stores: LiveSession[] = [];
      const Page = ({ suspense }: { suspense: boolean }): ReactElement => {
        const { session, store } = useSession({ suspense });
        stores.push(store);
        const file = useArtifact({ name: 'tea.png' });
        const theme = useSessionState('user:theme', 'light');
        return createElement('p', null, [session.status, file.status, theme.value].join(' '));
      };
      for (const suspense of [false, true]) {
        const page = createElement(SessionProvider, names, createElement(Page, { suspense }));
        assert.equal(renderToString(page), '<p>missing loading light</p>');
      }
      const [store] = stores;
      assert.ok(stores.every((each) => each === store));
      const refusal = { code: 'invalid_argument', key: name };
      await assert.rejects(store!.ask('Which tea?'), refusal);
      await assert.rejects(store!.send(message('e3')), refusal);
      await assert.rejects(store!.updateState({ topic: 'tea' }), refusal);
    });
  }

  it('show no list and no hits of other users while the user is undefined', async () => {
    const { service } = await sessionOf(2);
    let create: (() => Promise<unknown>) | undefined;
    const Page = (): ReactElement => {
      const { list, store } = useSessions();
      create = () => store.create();
      const { search } = useSearch({ query: 'e1' });
      const texts = [list.status, list.sessions.length, search.status, search.hits.length];
      return createElement('p', null, texts.join(' '));
    };
    const names = { service, ...KEY, userId: undefined };
    const page = createElement(SessionProvider, names, createElement(Page));
    assert.equal(renderToString(page), '<p>ready 0 ready 0</p>');
    await assert.rejects(create!(), { code: 'invalid_argument', key: 'userId' });
  });
});
