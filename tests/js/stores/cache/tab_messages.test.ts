import assert from 'node:assert/strict';
import { it } from 'node:test';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { openLocalStore } from '../../../../js/stores/cache/tabs/open_local_store.js';
import { TAB_MESSAGES, Tabs } from '../../../../js/stores/cache/tabs/tabs.js';
import { feedOfDatabase } from '../../../../js/core/watch/shared_feeds.js';
import { TabChannel } from '../../../../js/core/watch/tab_channel.js';
import { KEY, openCache, Server, until } from './fixture.js';

const LONG = 'x'.repeat(10_000);

const STATUS = { isOnline: false, isSignedOut: false, isSending: false };

function listeners(calls: unknown[][]) {
  const note =
    (kind: string) =>
    (...content: unknown[]): void =>
      void calls.push([kind, ...content]);
  return {
    forget: note('forget'),
    opened: note('opened'),
    status: note('status'),
    wake: note('wake'),
    failed: note('failed'),
    closed: note('closed'),
    changed: note('changed'),
    reads: note('reads'),
    lost: note('lost'),
    missed: note('missed'),
  };
}

/** Two tabs of different realms, with a real channel between them. */
function twoTabs(name: string) {
  const channels: BroadcastChannel[] = [];
  const open = (name: string): BroadcastChannel => {
    const channel = new BroadcastChannel(name);
    channels.push(channel);
    return channel;
  };
  const page = new EventTarget();
  const one = new Tabs(new TabChannel(name, { open, page }));
  const other = new Tabs(new TabChannel(name, { open }));
  const own: unknown[][] = [];
  const heard: unknown[][] = [];
  const stops = [one.listen(listeners(own)), other.listen(listeners(heard))];
  const close = (): void => {
    for (const stop of stops) stop();
    for (const channel of channels) channel.close();
  };
  return { one, page, own, heard, close };
}

it('a message of any length reaches the tabs of other realms, and not its sender', async () => {
  const { one, own, heard, close } = twoTabs('long');
  const failure = { code: 'remote', message: LONG, body: LONG } as const;
  const status = [[1, 'tab'], { ...STATUS, lastError: failure }] as const;
  one.post('status', status);
  one.post('failed', failure);
  one.post('changed', LONG);
  await until(() => heard.length === 3);
  assert.deepEqual(heard, [
    ['status', status],
    ['failed', failure],
    ['changed', LONG],
  ]);
  assert.deepEqual(own, []);
  close();
});

it('messages that are sent together keep what each says', () => {
  const failure = (message: string) => ({ code: 'remote', message }) as const;
  const merged = TAB_MESSAGES.merge([
    ['status', [[1, 'a'], STATUS]],
    ['status', [[2, 'b'], STATUS]],
    ['forget', 'c1'],
    ['failed', failure('one')],
    ['changed', 's1'],
    ['failed', failure('two')],
    ['changed', 's2'],
    ['changed', 's1'],
    ['status', [[3, 'a'], STATUS]],
  ]);
  assert.deepEqual(merged, [
    ['status', [[2, 'b'], STATUS]],
    ['forget', 'c1'],
    ['failed', failure('one')],
    ['failed', failure('two')],
    ['changed', 's2'],
    ['changed', 's1'],
    ['status', [[3, 'a'], STATUS]],
  ]);
});

it('messages of an unknown form are left out', () => {
  const unknown = [
    ...[['forget'], ['forget', 1], ['later'], ['status', [[1, 't'], {}]], ['failed', {}]],
    ...[['changed', 7], 'wake', ['wake', 1], undefined],
  ];
  for (const message of unknown) assert.equal(TAB_MESSAGES.decode(message), undefined);
  assert.deepEqual(TAB_MESSAGES.decode(['wake']), ['wake']);
});

it('a page that returns from the back/forward cache learns that it may have missed messages', () => {
  const { page, own, close } = twoTabs('returns');
  page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }));
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  assert.deepEqual(own, [['missed']]);
  close();
});

it('the feed of an owner is not that of a database with its name', () => {
  const { feed } = openLocalStore('indexeddb', 'ada');
  for (const name of ['cache ada', 'ada', ' cache:"ada"', 'cache notices:"ada"']) {
    assert.notEqual(feed, feedOfDatabase(name));
  }
});

it('a status with a long error reaches the other tabs, and so does the next one', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  server.intercept = () => Promise.resolve(new Response(LONG, { status: 400 }));
  await first.createSession(KEY);
  await until(() => second.status.lastError !== undefined);
  server.intercept = undefined;
  server.isOffline = true;
  await first.createSession({ ...KEY, sessionId: 's2' });
  await until(() => !second.status.isOnline);
  await Promise.all([first.close(), second.close()]);
});
