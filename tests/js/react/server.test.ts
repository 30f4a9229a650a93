// The hooks where there is no page: on a server.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createElement, type ReactElement, type ReactNode, Suspense } from 'react';
import { renderToReadableStream, renderToString } from 'react-dom/server';

import { InMemorySessionService } from '../../../js/index.js';
import type { LiveSession } from '../../../js/live/index.js';
import {
  SessionProvider,
  type SetSessionState,
  useSession,
  useSessions,
  useSessionState,
  type UseSessionOptions,
} from '../../../js/react/index.js';
import { isWatched, KEY, message, sessionOf } from '../live/stores.js';

const { sessionId, ...USER } = KEY;

function Chat({ suspense = false }: { suspense?: boolean }): ReactElement {
  const { status, events } = useSession({ sessionId, suspense }).session;
  const { list } = useSessions();
  const theme = useSessionState('user:theme', 'light', { sessionId });
  return createElement('p', null, [status, events.length, list.status, theme.value].join(' '));
}

const app = (service: InMemorySessionService, child: ReactNode): ReactElement =>
  createElement(SessionProvider, { service, ...USER }, child);

describe('On a server, the hooks', () => {
  it('give the loading snapshot and the fallback value, and read nothing', async () => {
    const { service } = await sessionOf(2);
    const text = renderToString(app(service, createElement(Chat)));
    assert.equal(text, '<p>loading 0 loading light</p>');
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
      id = useSession({ sessionId: undefined, userId: undefined } as object).store.key.sessionId;
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

  it('give an absent value the same fallback at each render', async () => {
    const { service } = await sessionOf(0);
    const carts: string[][] = [];
    const Cart = (): ReactElement => {
      const { value: cart } = useSessionState<string[]>('cart', [], { sessionId });
      carts.push(cart);
      return createElement('p', null, cart);
    };
    for (let turn = 0; turn < 2; turn += 1) renderToString(app(service, createElement(Cart)));
    assert.deepEqual(carts, [[], []]);
    assert.equal(carts[0], carts[1]);
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

  it('say what is missing', () => {
    const service = new InMemorySessionService();
    const Nameless = (): ReactElement => createElement('p', null, useSession().session.status);
    assert.throws(() => renderToString(createElement(Nameless)), { code: 'invalid_argument' });
    assert.throws(() => renderToString(app(service, createElement(Nameless))), {
      code: 'invalid_argument',
      key: 'sessionId',
    });
  });
});
