// Two programs over one database: the feed of the first tells what the second writes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import type { Notice } from '../../../../../js/index.js';
import { sessionHandler } from '../../../../../js/server/index.js';
import { ALL_RIGHTS, type FeedEvent, feedEvents, requestTo } from '../../../server/fixture.js';
import { eventOf } from './concurrency.js';

const USER = { appName: 'shop', userId: 'ada' };
const KEY = { ...USER, sessionId: 's1' };

/** Opens the feed of the user as a new client, waits for its `resync`, and returns a function for the next notice. */
async function feedOf(service: DatabaseSessionService) {
  const handler = sessionHandler(service, { authorize: () => ALL_RIGHTS });
  const headers = { 'last-event-id': '0' };
  const events = feedEvents(await handler(requestTo('/apps/shop/changes?userId=ada', { headers })));
  const next = async (): Promise<Notice> => {
    const { value } = (await events.next()) as { value: FeedEvent };
    return value.data as Notice;
  };
  assert.equal((await next()).type, 'resync');
  return next;
}

/** Tests that a feed has the changes of other programs, each in a database of its own. */
export function hearsOthers(
  title: string,
  newUrl: () => string | Promise<string>,
  open: (url: string) => DatabaseSessionService,
): void {
  describe(`A feed of changes on ${title}`, { timeout: 60_000 }, () => {
    it('has the changes of another program, with the revisions that a read has', async () => {
      const url = await newUrl();
      await using service = open(url);
      await using other = open(url);
      await service.createSession({ ...KEY, sessionId: 'before' });
      const next = await feedOf(service);
      const session = await other.createSession({ ...KEY, state: { 'user:n': 1 } });
      const notices = [await next(), await next()];
      const created = notices.find(({ type }) => type === 'created');
      const revision = other.revisionOf(session);
      assert.deepEqual(created, { type: 'created', ...KEY, revision, scopes: [] });
      assert.deepEqual(
        notices.find(({ type }) => type === 'stateChanged'),
        { type: 'stateChanged', ...USER, scopes: ['user'] },
      );

      await other.appendEvent({ session, event: eventOf('e1', { 'app:n': 1 }) });
      const later = [await next(), await next()];
      assert.deepEqual(later.map(({ type }) => type).sort(), ['appended', 'stateChanged']);
      const appended = later.find(({ type }) => type === 'appended');
      const read = await service.getSession(KEY);
      assert.ok(read);
      assert.deepEqual(appended, {
        type: 'appended',
        ...KEY,
        revision: service.revisionOf(read),
        scopes: [],
      });
      await other.deleteUserState(USER);
      assert.deepEqual(await next(), { type: 'stateChanged', ...USER, scopes: ['user'] });
    });

    it('has own changes once', async () => {
      const url = await newUrl();
      await using service = open(url);
      await using other = open(url);
      const next = await feedOf(service);
      const told: Notice[] = [];
      const reading = (async () => {
        for (;;) {
          const notice = await next();
          if ('sessionId' in notice && notice.sessionId === 'last') return;
          told.push(notice);
        }
      })();
      const session = await service.createSession({ ...KEY, state: { 'user:n': 1 } });
      const until = Date.now() + 2500;
      let count = 1;
      while (Date.now() < until) {
        await service.appendEvent({ session, event: eventOf(`e${count}`, { 'app:n': count }) });
        await service.updateState({ ...USER, stateDelta: { 'user:n': count } });
        count += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await other.createSession({ ...KEY, sessionId: 'last' });
      await reading;
      const of = (type: Notice['type']) => told.filter((notice) => notice.type === type).length;
      const counts = [of('created'), of('appended'), of('stateChanged')];
      assert.deepEqual(counts, [1, count - 1, count - 1]);
    });
  });
}
