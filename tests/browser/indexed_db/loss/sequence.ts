// The record that session numbers and revisions are counted by, lost or changed by hand.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, newName, tabOfGroup } from '../context.js';
import { type Row, answer, putRows, rows, withDatabase } from '../page/bare.js';
import { APP, type Failure, failure, idsOf, keyOf, mark } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { damageSequence, giveNumberAgain, beginWithState };
type Page = typeof inPage;

const DAMAGES: [how: string, change: Row | null][] = [
  ['is lost', null],
  ['has no next number', { next: null }],
  ['has a next number that is a text', { next: '7' }],
  ['has a next number that is too large', { next: 1e300 }],
  ['has no floor', { floor: 'none' }],
];

export function sequence(context: Context): void {
  const page = tabOfGroup<Page>(context);
  for (const [how, change] of DAMAGES) {
    it(`sessions stay readable, but cannot be created or deleted, if the sequence ${how}`, async () => {
      const { failed, events, meta } = await page.tab.call('damageSequence', newName(), change);
      for (const { code, record } of Object.values(failed)) {
        assert.equal(code, 'corrupt_record');
        assert.match(record ?? '', /sequence/);
      }
      assert.deepEqual(events, ['one', 'two']);
      assert.equal(meta.length, change === null ? 0 : 1, 'no new one is begun');
    });
  }

  for (const hasEvents of [true, false]) {
    it(`the number of a session with${hasEvents ? '' : 'out'} events is never reused`, async () => {
      const { numbers, ada, bob } = await page.tab.call('giveNumberAgain', newName(), hasEvents);
      assert.notEqual(numbers[0], numbers[1]);
      assert.deepEqual(ada, hasEvents ? ['secret'] : []);
      assert.deepEqual(bob, ['other']);
    });
  }

  it('a database with states and without sessions needs no sequence', async () => {
    assert.deepEqual(await page.tab.call('beginWithState', newName()), ['app:a']);
  });
}

const BOB = { appName: APP, userId: 'bob', sessionId: 'his' };

interface WithoutSequence {
  failed: { create: Failure; delete: Failure; deleteState: Failure };
  /** The outcome of other reads and appends. */
  events: string[];
  /** Records of `meta` afterwards. */
  meta: Row[];
}

/** Changes the sequence, and reports which calls still work. Without a change, the sequence is deleted. */
async function damageSequence(name: string, change: Row | null): Promise<WithoutSequence> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('first'));
  await service.appendEvent({ session, event: mark('one') });
  await changeSequence(name, change);
  const failed = {
    create: await failure(() => service.createSession(BOB)),
    delete: await failure(() => service.deleteSession(keyOf('first'))),
    deleteState: await failure(() => service.deleteUserState({ appName: APP, userId: 'ada' })),
  };
  await service.appendEvent({ session, event: mark('two') });
  const events = idsOf(await service.getSession(keyOf('first')));
  await service.close();
  return { failed, events, meta: await rows(name, 'meta') };
}

async function changeSequence(name: string, change: Row | null): Promise<void> {
  const [sequence] = await rows(name, 'meta');
  if (sequence === undefined) throw new Error('there is no sequence');
  if (change !== null) return putRows(name, 'meta', [{ ...sequence, ...change }]);
  await withDatabase(name, (database) =>
    answer(
      database
        .transaction('meta', 'readwrite')
        .objectStore('meta')
        .delete(sequence.key as string),
    ),
  );
}

/** Puts the next number back to that of the first session, which may have events, and creates one of another user. */
async function giveNumberAgain(
  name: string,
  hasEvents: boolean,
): Promise<{ numbers: number[]; ada: string[]; bob: string[] }> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('hers'));
  if (hasEvents) await service.appendEvent({ session, event: mark('secret') });
  const [{ number } = {}] = await rows(name, 'sessions');
  await changeSequence(name, { next: number });
  const his = await service.createSession(BOB);
  await service.appendEvent({ session: his, event: mark('other') });
  const [ada, bob] = await Promise.all([keyOf('hers'), BOB].map((key) => service.getSession(key)));
  await service.close();
  const numbers = (await rows(name, 'sessions')).map(({ number }) => number as number);
  return { numbers, ada: idsOf(ada), bob: idsOf(bob) };
}

/** A database that has states and no session yet has no sequence either. */
async function beginWithState(name: string): Promise<string[]> {
  const service = new IndexedDbSessionService({ name });
  await service.updateState({ appName: APP, stateDelta: { 'app:a': 1 } });
  await service.updateState({ appName: APP, userId: 'ada', stateDelta: { 'user:b': 1 } });
  await service.deleteUserState({ appName: APP, userId: 'ada' });
  const session = await service.createSession(keyOf('first'));
  await service.deleteSession(keyOf('first'));
  await service.createSession(keyOf('first'));
  await service.close();
  return Object.keys(session.state);
}
