import assert from 'node:assert/strict';
import { it } from 'node:test';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { openLocalStore } from '../../../../js/stores/cache/tabs/open_local_store.js';
import { TAB_MESSAGES, type TabMessage } from '../../../../js/stores/cache/tabs/tab_messages.js';
import { TabHub, Tabs } from '../../../../js/stores/cache/tabs/tabs.js';
import { feedOfDatabase } from '../../../../js/core/watch/shared_feeds.js';
import { KEY, openCache, Server, until } from './fixture.js';

const LONG = 'x'.repeat(10_000);

const STATUS = { isOnline: false, isSignedOut: false, isSending: false };

function listeners(calls: unknown[][]) {
  const note =
    (kind: string) =>
    (...content: unknown[]): void =>
      void calls.push([kind, ...content]);
  return {
    ...{ forget: note('forget'), opened: note('opened'), status: note('status') },
    ...{ wake: note('wake'), failed: note('failed'), closed: note('closed') },
    ...{ changed: note('changed'), reads: note('reads'), lost: note('lost') },
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
  const [here, there] = [new TabHub(name, { open, page }), new TabHub(name, { open })];
  const [one, other] = [new Tabs(here), new Tabs(there)];
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
  const of = (kind: TabMessage['kind'], ...content: unknown[]): TabMessage => ({
    ...{ kind, tab: 'a', content },
  });
  const failure = (message: string) => ({ code: 'remote', message });
  const merged = TAB_MESSAGES.merge([
    of('status', [[1, 'a'], STATUS]),
    of('forget', 'c1'),
    of('failed', failure('one')),
    of('changed', 's1'),
    of('failed', failure('two')),
    of('changed', 's2'),
    of('changed', 's1'),
    of('status', [[2, 'a'], STATUS]),
  ]);
  assert.deepEqual(
    merged.map(({ kind, content }) => [kind, content[0]]),
    [
      ['forget', 'c1'],
      ['failed', failure('one')],
      ['failed', failure('two')],
      ['changed', 's2'],
      ['changed', 's1'],
      ['status', [[2, 'a'], STATUS]],
    ],
  );
});

it('messages of an unknown form are left out', () => {
  const messages = [
    ...[
      ['forget', 't'],
      ['forget', 't', 1],
      ['later', 't'],
      ['status', 't', [[1, 't'], {}]],
    ],
    ...[['failed', 't', {}], ['changed', 7, 's1'], 'wake', ['wake', 't', 1], ['wake', 't']],
  ];
  const known = [{ kind: 'wake', tab: 't', content: [] }];
  assert.deepEqual(TAB_MESSAGES.decode({ format: 1, messages }), known);
  assert.deepEqual(TAB_MESSAGES.decode({ format: 2, messages }), []);
  for (const data of [undefined, 'wake', { format: 1 }]) {
    assert.deepEqual(TAB_MESSAGES.decode(data), []);
  }
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
