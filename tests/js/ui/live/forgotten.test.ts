import assert from 'node:assert/strict';
import { it } from 'node:test';

import { liveSession, liveSessions, type RunAgent } from '../../../../js/ui/live/index.js';
import { sharedSession } from '../../../../js/ui/live/components/provided.js';
import { CACHE_STORES } from '../../../../js/stores/cache/local_store/local_store.js';
import { event, hasCode, KEY, openCache, Server, until, USER } from '../../stores/cache/fixture.js';
import { entriesOf } from '../../stores/cache/held_store.js';

const MESSAGE = { author: 'user', content: { role: 'user', parts: [{ text: 'hi' }] } };

async function twoTabs() {
  const server = new Server();
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  const session = await first.createSession({ ...KEY, title: 'Tea', state: { kept: 1 } });
  await first.appendEvent({ session, event: event('e1') });
  await first.sync();
  const close = () => Promise.all([first.close(), second.close()]);
  return { first, second, local, server, close };
}

it('after forget the live stores of all tabs show nothing, read nothing, and refuse to send', async () => {
  const { first, second, local, close } = await twoTabs();
  const run: RunAgent = async function* () {
    yield { author: 'guide', partial: true, content: { parts: [{ text: 'Green' }] } };
    await new Promise(() => undefined);
  };
  const [chat, unwatched] = [liveSession(second, KEY, { run }), liveSession(second, KEY)];
  const list = liveSessions(first, USER);
  const stops = [chat.subscribe(() => undefined), list.subscribe(() => undefined)];
  await Promise.all([chat.load(), unwatched.load(), list.load()]);
  await chat.ask({ role: 'user', parts: [{ text: 'Which tea?' }] });
  await until(() => chat.getSnapshot().drafts.length === 1);
  await first.forget();
  await until(() => chat.getSnapshot().status === 'forgotten');
  for (const { status, events, drafts, state, title } of [chat, unwatched].map((store) =>
    store.getSnapshot(),
  )) {
    assert.deepEqual([status, events, drafts, state, title], ['forgotten', [], [], {}, undefined]);
  }
  const { status, sessions } = list.getSnapshot();
  assert.deepEqual([status, sessions], ['forgotten', []]);
  for (const call of [
    () => chat.send(MESSAGE),
    () => unwatched.send(MESSAGE),
    () => chat.updateState({ kept: 2 }),
    () => chat.rename('Coffee'),
    () => list.create({}),
  ]) {
    await assert.rejects(call(), hasCode('aborted'));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const store of CACHE_STORES) assert.deepEqual(await entriesOf(local, store), []);
  for (const stop of stops) stop();
  await close();
});

it('a list whose read waits for the next frame reads nothing after forget', async () => {
  const { first, local, close } = await twoTabs();
  const list = liveSessions(first, USER);
  await list.load();
  void list.reload();
  await new Promise((resolve) => setImmediate(resolve));
  await first.forget();
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const store of CACHE_STORES) assert.deepEqual(await entriesOf(local, store), []);
  await close();
});

it('reload of a forgotten store reads the session again', async () => {
  const { first, second, close } = await twoTabs();
  const chat = liveSession(second, KEY);
  await chat.load();
  await first.forget();
  await until(() => chat.getSnapshot().status === 'forgotten');
  await chat.reload();
  const { status, events, title } = chat.getSnapshot();
  assert.deepEqual([status, events.map(({ id }) => id), title], ['ready', ['e1'], 'Tea']);
  await chat.send(MESSAGE);
  await close();
});

it('a component that is shown after forget gets another store', async () => {
  const { first, close } = await twoTabs();
  const store = sharedSession(first, KEY);
  const stop = store.subscribe(() => undefined);
  await store.load();
  await first.forget();
  assert.equal(sharedSession(first, KEY), store);
  stop();
  const next = sharedSession(first, KEY);
  assert.notEqual(next, store);
  await next.load();
  assert.equal(next.getSnapshot().status, 'ready');
  await close();
});
