// Between tabs stands Node's own BroadcastChannel here; the browser tests use the browsers' own.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { fileURLToPath } from 'node:url';

import { wholeStorage } from '../../service/whole_storage.js';
import type { Notice } from '../../../../js/index.js';
import type { SessionNotice } from '../../../../js/values/model/notice.js';
import type { SharedScope } from '../../../../js/values/state/scope.js';
import type { Storage } from '../../../../js/core/storage/index.js';
import { openingOf } from '../../../../js/stores/indexed_db/opening.js';
import { ServiceCore } from '../../../../js/service/service_core.js';
import { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import { RowStore } from '../../../../js/core/storage/driver/row_store.js';
import { Feed } from '../../../../js/core/watch/feed.js';
import { ServiceFeed } from '../../../../js/core/watch/service_feed.js';
import { feedOfDatabase } from '../../../../js/core/watch/shared_feeds.js';
import { TabChannel, type TabKind, type TabPort } from '../../../../js/core/watch/tab_channel.js';
import { APP, KEY, says, USER } from '../../service/fixture.js';
import { gate } from '../../service/map_storage.js';

let number = 0;
const cleanUps: (() => void)[] = [];

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => 0);
});

afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  mock.timers.reset();
  mock.restoreAll();
});

/** The open channels of the tabs. */
const channels = new Set<BroadcastChannel>();

/** A page of the origin: its part of the channel, and the services that it opened. */
class Tab {
  readonly page = new EventTarget();
  readonly open = new Set<BroadcastChannel>();
  readonly channel: TabChannel;
  readonly feed: Feed;
  opened = 0;

  constructor(name: string) {
    const open = (name: string): BroadcastChannel => {
      const channel = new BroadcastChannel(name);
      const close = channel.close.bind(channel);
      channel.close = () => {
        this.open.delete(channel);
        channels.delete(channel);
        close();
      };
      this.open.add(channel);
      channels.add(channel);
      this.opened += 1;
      return channel;
    };
    const { page } = this;
    this.channel = new TabChannel(name, { open, page });
    this.feed = new Feed(this.channel);
    cleanUps.push(() => {
      for (const channel of this.open) channel.close();
    });
  }

  service(storage: Storage): StoredSessionService {
    const info = { kind: 'indexeddb', durable: true };
    const openStore = () => new RowStore(storage);
    return new StoredSessionService(new ServiceCore({ storage: info, openStore, feed: this.feed }));
  }

  hide(persisted: boolean): void {
    this.page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted }));
  }

  show(persisted: boolean): void {
    this.page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
  }
}

const TEXTS: TabKind<string> = {
  name: 'cache',
  merge: (texts) => texts,
  decode: (value) => (typeof value === 'string' ? value : undefined),
};

/** A user of a tab's channel that is no feed. */
class Texts {
  readonly texts: string[] = [];
  readonly port: TabPort<string>;

  constructor({ channel }: Tab) {
    const deliver = (texts: readonly string[]): void => void this.texts.push(...texts);
    this.port = channel.port(TEXTS, { deliver, missed: () => undefined });
    this.port.start();
    this.port.listen(true);
  }
}

function begin() {
  number += 1;
  const name = `test ${number}`;
  const storage = wholeStorage();
  const [here, there] = [new Tab(name), new Tab(name)];
  return { name, storage, here, there, one: here.service(storage), other: there.service(storage) };
}

function listen(service: StoredSessionService): Notice[] {
  const notices: Notice[] = [];
  service.watch(APP, { onNotice: (notice) => notices.push(notice) });
  return notices;
}

/** Everything that the tabs have to send has arrived: a message behind it has come through each open channel. */
async function arrived(): Promise<void> {
  await new Promise(setImmediate);
  mock.timers.runAll();
  const last = `last ${(number += 1)}`;
  for (const { name } of channels) post(name, last);
  await Promise.all([...channels].map((channel) => hasReceived(channel, last)));
}

function post(name: string, message: unknown): void {
  const channel = new BroadcastChannel(name);
  channel.postMessage(message);
  channel.close();
}

function hasReceived(channel: BroadcastChannel, message: string): Promise<void> {
  return new Promise((resolve) => {
    channel.addEventListener('message', (event) => {
      if (event.data === message) resolve();
    });
  });
}

interface Message {
  readonly notices: readonly SessionNotice[];
}

/** The messages of the tabs, as they come. */
function messagesOf(name: string): Message[] {
  const channel = new BroadcastChannel(name);
  channels.add(channel);
  cleanUps.push(() => {
    channels.delete(channel);
    channel.close();
  });
  const messages: Message[] = [];
  channel.onmessage = ({ data }: MessageEvent<Message | string>) => {
    if (typeof data === 'object') messages.push(data);
  };
  return messages;
}

const created = (...scopes: SharedScope[]): SessionNotice => {
  return { type: 'created', ...KEY, revision: 1, scopes };
};

describe('The channel between tabs', () => {
  it('delivers the notices of a tab that has no watcher', async () => {
    const { here, there, one, other } = begin();
    const notices = listen(one);
    await other.createSession({ ...KEY, state: { 'user:a': 1 } });
    await arrived();
    assert.deepEqual(notices, [created('user')]);
    assert.deepEqual([here.opened, there.opened], [1, 1]);
  });

  it('opens on first use, and closes with the last service', async () => {
    const { storage, here, there, one, other } = begin();
    assert.equal(here.open.size, 0);
    const second = here.service(storage);
    const controller = new AbortController();
    const notices = one.watch(APP, { signal: controller.signal });
    assert.equal(here.open.size, 1);
    assert.equal(there.open.size, 0);
    await other.createSession(KEY);
    await arrived();
    assert.deepEqual((await notices.next()).value, created());
    assert.equal(there.open.size, 1);
    await one.close();
    assert.equal((await notices.next()).done, true);
    assert.equal(here.open.size, 1);
    await second.close();
    await other.close();
    assert.deepEqual([here.open.size, there.open.size], [0, 0]);
  });

  it('sends the last notice of a service that closes', async () => {
    const { one, other } = begin();
    const notices = listen(one);
    const creating = other.createSession(KEY);
    await other.close();
    await creating;
    await arrived();
    assert.deepEqual(notices, [created()]);
  });

  it('delivers a notice once to each service of its own tab', async () => {
    const { storage, here, one, other } = begin();
    const lists = [listen(one), listen(here.service(storage)), listen(other)];
    await one.createSession(KEY);
    await arrived();
    assert.deepEqual(lists, [[created()], [created()], [created()]]);
  });

  it('sends notices that come together as one message', async () => {
    const { name, one } = begin();
    const messages = messagesOf(name);
    const ids = ['a', 'b', 'c'];
    await Promise.all(ids.map((sessionId) => one.createSession({ ...KEY, sessionId })));
    await arrived();
    const notices = ids.map((sessionId) => ({ ...created(), sessionId }));
    assert.deepEqual(messages, [{ format: 1, notices }]);
  });

  it('collects notices after a message into the next message', async () => {
    const { name, one } = begin();
    const messages = messagesOf(name);
    const ids = Array.from({ length: 30 }, (_, index) => `s${index}`);
    for (const sessionId of ids) {
      await one.createSession({ ...KEY, sessionId });
      mock.timers.tick(1);
    }
    mock.timers.tick(20);
    await arrived();
    const sent = messages.map(({ notices }) => notices.map(({ sessionId }) => sessionId));
    assert.deepEqual(sent, [ids.slice(0, 1), ids.slice(1)]);
  });

  it('ignores messages that it does not know', async () => {
    const { name, one } = begin();
    const notices = listen(one);
    const raw = new BroadcastChannel(name);
    cleanUps.push(() => raw.close());
    const good = { type: 'appended', ...KEY, revision: 3, scopes: ['app'] };
    const garbage = [
      undefined,
      null,
      7,
      'text',
      [good],
      {},
      { type: 'renamed', ...KEY, revision: 4 },
      { ...good, revision: -1 },
      { ...good, revision: 1.5 },
      { ...good, revision: undefined },
      { ...good, sessionId: undefined },
      { ...good, sessionId: '' },
      { ...good, userId: 7 },
      { ...good, appName: undefined },
      { ...good, scopes: undefined },
      { type: 'stateChanged', scopes: ['session'], ...USER },
      { type: 'stateChanged', scopes: ['user'], ...APP },
      { type: 'stateChanged', scopes: [], ...USER },
      { type: 'stateChanged', ...USER },
    ];
    for (const message of garbage) raw.postMessage(message);
    for (const notices of [undefined, 'text', {}, garbage]) raw.postMessage({ format: 1, notices });
    raw.postMessage({ format: 0, notices: [good] });
    raw.postMessage({ notices: [good] });
    const more = { ...good, text: 'from a later version', __proto__: null };
    raw.postMessage({ format: 1, more: true, notices: [...garbage, more] });
    await arrived();
    assert.deepEqual(notices, [good]);
  });

  it('closes when the page enters the back/forward cache, and reports resync on return', async () => {
    const { here, one, other } = begin();
    const notices = listen(one);
    here.hide(true);
    assert.equal(here.open.size, 0);
    const session = await other.createSession(KEY);
    await arrived();
    assert.deepEqual(notices, []);
    here.show(true);
    assert.equal(here.open.size, 1);
    await arrived();
    assert.deepEqual(notices.splice(0), [{ type: 'resync' }]);
    await other.appendEvent({ session, event: says('1') });
    await arrived();
    assert.deepEqual(notices, [{ type: 'appended', ...KEY, revision: 2, scopes: [] }]);
  });

  it('stays open if the page is only hidden, and reports no resync at the first show', async () => {
    const { here, one } = begin();
    const notices = listen(one);
    here.hide(false);
    assert.equal(here.open.size, 1);
    here.show(false);
    await arrived();
    assert.deepEqual(notices, []);
  });

  it('sends changes committed while the page leaves, and stays closed', async () => {
    const { here, one, other } = begin();
    const notices = listen(other);
    const creating = one.createSession(KEY);
    here.hide(true);
    await creating;
    await arrived();
    assert.deepEqual(notices, [created()]);
    assert.equal(here.open.size, 0);
  });

  it('does not open for a page that returns without a watcher', async () => {
    const { here, one } = begin();
    await one.createSession(KEY);
    await arrived();
    here.hide(true);
    here.show(true);
    assert.equal(here.open.size, 0);
    await one.deleteSession(KEY);
    await arrived();
    assert.equal(here.open.size, 1);
  });

  it('sends what a service left running at its close, and stays closed', async () => {
    const { storage, here, one, other } = begin();
    const { opened, open } = gate();
    const create: Storage['create'] = async (request, decide) => {
      await opened;
      return storage.create(request, decide);
    };
    const notices = listen(other);
    const slow = here.service({ ...storage, create });
    const creating = slow.createSession(KEY);
    await one.close();
    const closing = slow.close({ timeoutMs: 0 });
    mock.timers.runAll();
    await closing;
    open();
    await creating;
    await arrived();
    assert.deepEqual(notices, [created()]);
    assert.equal(here.open.size, 0);
  });

  it('opens for a service after one that was closed while the page left', async () => {
    const { storage, here, one, other } = begin();
    here.hide(true);
    await one.close();
    here.show(true);
    const notices = listen(here.service(storage));
    await other.createSession(KEY);
    await arrived();
    assert.deepEqual(notices, [created()]);
  });

  it('sends messages of all kinds in one message, and passes each to the users of its kind', async () => {
    const { name, here, there, one, other } = begin();
    const messages = messagesOf(name);
    const notices = listen(other);
    const [sender, receiver] = [new Texts(here), new Texts(there)];
    sender.port.send(['wake']);
    await one.createSession(KEY);
    await arrived();
    assert.deepEqual(messages, [{ format: 1, cache: ['wake'], notices: [created()] }]);
    assert.deepEqual([notices, receiver.texts], [[created()], ['wake']]);
    assert.deepEqual([here.opened, there.opened], [1, 1]);
  });

  it('sends the other kinds if the messages of one kind cannot be cloned', async () => {
    const { here, there, one, other } = begin();
    const notices = listen(other);
    const receiver = new Texts(there);
    const drafts: TabKind<unknown> = { ...TEXTS, name: 'runs', merge: (all) => all };
    const listener = { deliver: () => undefined, missed: () => undefined };
    const runs = here.channel.port(drafts, listener);
    runs.start();
    runs.send([{ stateDelta: { 'temp:x': () => undefined } }]);
    new Texts(here).port.send(['wake']);
    await one.createSession(KEY);
    await arrived();
    assert.deepEqual([notices, receiver.texts], [[created()], ['wake']]);
    new Texts(here).port.send(['later']);
    await arrived();
    assert.deepEqual(receiver.texts, ['wake', 'later']);
  });

  it('stays open for users of other kinds when the last service closes', async () => {
    const { here, there, one, other } = begin();
    const receiver = new Texts(here);
    const notices = listen(one);
    await one.close();
    new Texts(there).port.send(['still here']);
    await other.createSession(KEY);
    await arrived();
    assert.deepEqual([notices, receiver.texts], [[], ['still here']]);
    receiver.port.close();
    assert.equal(here.open.size, 0);
  });

  it('passes messages to all users of a kind, also to those of the tab that sends', async () => {
    const { here, there } = begin();
    const [first, second, third] = [new Texts(here), new Texts(here), new Texts(there)];
    first.port.send(['one']);
    third.port.send(['two']);
    await arrived();
    assert.deepEqual([first.texts, second.texts, third.texts], [['two'], ['one', 'two'], ['one']]);
    second.port.close();
    third.port.send(['three']);
    await arrived();
    assert.deepEqual(
      [first.texts, second.texts],
      [
        ['two', 'three'],
        ['one', 'two'],
      ],
    );
  });

  it('causes no error if the browser refuses channels', async () => {
    const refuse = (): never => {
      throw new DOMException('refused', 'SecurityError');
    };
    const feed = new Feed(new TabChannel('refused', { open: refuse }));
    const storage = { kind: 'indexeddb', durable: true };
    const openStore = () => new RowStore(wholeStorage());
    const service = new StoredSessionService(new ServiceCore({ storage, openStore, feed }));
    const notices = listen(service);
    await service.createSession(KEY);
    await arrived();
    assert.deepEqual(notices, [created()]);
    await service.close();
  });

  it('reports resync when the storage may have missed changes', async () => {
    const { here, one } = begin();
    const notices = one.watch(APP);
    here.feed.deliver([{ type: 'resync' }]);
    assert.deepEqual(await notices.next(), { value: { type: 'resync' } });
  });
});

describe('The feed of a database', () => {
  it('tells other tabs of deleteDatabase, after which revisions begin again', async () => {
    const name = 'deleted';
    const there = new Tab(`adk-session-wasm:${name}`);
    const notices = listen(there.service(wholeStorage()));
    const here = new ServiceFeed(
      feedOfDatabase(name, { open: (name) => new BroadcastChannel(name) }),
    );
    const change = (revision: number): Notice => ({ ...created(), type: 'appended', revision });
    here.feed.publish([change(7)]);
    await arrived();
    await openingOf(name).forget(() => Promise.resolve());
    here.feed.publish([change(2)]);
    await arrived();
    here.close();
    assert.deepEqual(notices, [change(7), { type: 'resync' }, change(2)]);
  });

  it('is shared by name, and separate for each storage', () => {
    assert.equal(feedOfDatabase('a'), feedOfDatabase('a'));
    assert.notEqual(feedOfDatabase('a'), feedOfDatabase('b'));
  });

  it('opens no channel in Node, so that the process can end', () => {
    const program = `
      import { feedOfDatabase } from './js/core/watch/shared_feeds.js';
      import { ServiceFeed } from './js/core/watch/service_feed.js';
      const feed = new ServiceFeed(feedOfDatabase('sessions'));
      feed.watch({ appName: 'app' }, { onNotice: ({ type }) => console.log(type) });
      const key = { appName: 'app', userId: 'user', sessionId: 'session' };
      feed.publish({ kind: 'delete', what: 'session', key }, { isDeleted: true, floor: 1 });`;
    const root = fileURLToPath(new URL('../../../..', import.meta.url));
    const node = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const { status, stdout } = spawnSync(process.execPath, node, {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual([status, stdout.trim()], [0, 'deleted']);
  });
});
