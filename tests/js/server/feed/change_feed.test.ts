import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Notice } from '../../../../js/index.js';
import type { SessionNotice } from '../../../../js/values/model/notice.js';
import { type SessionHandler, sessionHandler } from '../../../../js/server/index.js';
import { APP, type FeedEvent, feedEvents, KEY, requestTo, seed, serve } from '../fixture.js';

async function next(events: AsyncGenerator<FeedEvent>): Promise<FeedEvent> {
  const { value } = (await events.next()) as { value: FeedEvent };
  return value;
}

async function take(events: AsyncGenerator<FeedEvent>, count: number): Promise<FeedEvent[]> {
  const taken: FeedEvent[] = [];
  while (taken.length < count) taken.push(await next(events));
  return taken;
}

async function openFeed(
  handler: SessionHandler,
  path: string,
  headers: Record<string, string> = {},
): Promise<AsyncGenerator<FeedEvent>> {
  return feedEvents(await handler(requestTo(path, { headers })));
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

const EVENT = { author: 'user', invocationId: 'i' };
const CHANGES = `/apps/${APP}/changes`;

describe('A change feed', () => {
  it('sends the notices of a user as server-sent events', async () => {
    const { handler, service } = serve();
    const response = await handler(requestTo(`${CHANGES}?userId=ada`));
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const events = feedEvents(response);
    await service.createSession({ ...KEY, userId: 'bob' });
    await seed(service);
    const { data } = await next(events);
    assert.deepEqual(
      { ...(data as object), revision: 0 },
      { type: 'created', ...KEY, revision: 0, scopes: [] },
    );
    await service.deleteSession(KEY);
    const types = (await take(events, 2)).map(({ data }) => (data as Notice).type);
    assert.deepEqual(types, ['appended', 'deleted']);
    await events.return(undefined);
  });

  it('that is cut in the middle of 200 appends continues there, with nothing lost or twice', async () => {
    const { handler, service } = serve();
    const sessions = await Promise.all(
      Array.from({ length: 200 }, () => service.createSession({ appName: APP, userId: 'ada' })),
    );
    const others = await service.createSession({ appName: APP, userId: 'bob' });
    const continued = (id?: string) =>
      openFeed(handler, `${CHANGES}?userId=ada`, id === undefined ? {} : { 'last-event-id': id });

    const first = await continued();
    const appends = (async () => {
      for (const session of sessions) {
        await service.appendEvent({ session, event: EVENT });
        await service.appendEvent({ session: others, event: EVENT });
      }
    })();
    const before = await take(first, 87);
    await first.return(undefined);
    await appends;
    const second = await continued(before.at(-1)!.id);
    const after = await take(second, 50);
    await second.return(undefined);
    const third = await continued(after.at(-1)!.id);
    const rest = await take(third, 63);
    const told = [...before, ...after, ...rest].map(({ data }) => data as SessionNotice);
    assert.deepEqual(
      told.map(({ type, sessionId, revision }) => [type, sessionId, revision]),
      sessions.map((session) => ['appended', session.id, service.revisionOf(session)]),
    );
    await service.createSession(KEY);
    assert.equal(((await next(third)).data as Notice).type, 'created');
    await third.return(undefined);
  });

  it('continues after another user changed a lot', async () => {
    const { handler, service } = serve();
    const [mine, others] = await Promise.all(
      ['ada', 'bob'].map((userId) => service.createSession({ appName: APP, userId })),
    );
    const feed = await openFeed(handler, `${CHANGES}?userId=ada`);
    await service.appendEvent({ session: mine!, event: EVENT });
    const { id } = await next(feed);
    await feed.return(undefined);
    for (let number = 0; number < 500; number += 1) {
      await service.appendEvent({ session: others!, event: EVENT });
    }
    await service.updateState({ appName: APP, userId: 'ada', stateDelta: { 'user:a': 1 } });
    const again = await openFeed(handler, `${CHANGES}?userId=ada`, { 'last-event-id': id });
    assert.equal(((await next(again)).data as Notice).type, 'stateChanged');
    await again.return(undefined);
  });

  it('begins with resync if the log does not have all that followed the event', async () => {
    const { handler, service } = serve();
    const feed = await openFeed(handler, CHANGES);
    await service.createSession(KEY);
    const { id } = await next(feed);
    await feed.return(undefined);
    // More than the 10,000 notices that the log holds, none of which stands for another.
    const change = async (count: number): Promise<void> => {
      for (let number = 0; number < count; number += 1) {
        await service.updateSession(KEY, { title: `title ${number}` });
        await new Promise(setImmediate);
      }
    };
    await change(10_000);
    const behind = await openFeed(handler, CHANGES, { 'last-event-id': id });
    assert.equal(((await next(behind)).data as Notice).type, 'updated');
    await change(1);
    for (const lastEventId of [id, `${id}00000`, '7', 'x', `${id.split('.')[0]}.-1`]) {
      const again = await openFeed(handler, CHANGES, { 'last-event-id': lastEventId });
      assert.deepEqual((await next(again)).data, { type: 'resync' }, lastEventId);
      await change(1);
      assert.equal(((await next(again)).data as Notice).type, 'updated', 'nothing from before');
      await again.return(undefined);
    }
    // A slow reader. The streams between hold some events.
    let notice = (await next(behind)).data as Notice;
    for (let count = 0; count < 10 && notice.type === 'updated'; count += 1) {
      notice = (await next(behind)).data as Notice;
    }
    assert.equal(notice.type, 'resync');
    await behind.return(undefined);
  });

  it('begins with resync at another server over the same sessions', async () => {
    const { handler, service } = serve();
    const feed = await openFeed(handler, CHANGES);
    await service.createSession(KEY);
    const { id } = await next(feed);
    await feed.return(undefined);
    const restarted = sessionHandler(service, { authorize: () => true });
    const again = await openFeed(restarted, CHANGES, { 'last-event-id': id });
    assert.deepEqual((await next(again)).data, { type: 'resync' });
    await again.return(undefined);
  });

  it('without an event can be continued by the id of a comment', async () => {
    const { handler, service } = serve();
    const response = await handler(requestTo(CHANGES));
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    const [, id] = /^: connected\nid: (.*)\n\n$/.exec(value ?? '') ?? [];
    await reader.cancel();
    await service.createSession(KEY);
    const feed = await openFeed(handler, CHANGES, { 'last-event-id': id! });
    assert.equal(((await next(feed)).data as Notice).type, 'created');
    await feed.return(undefined);
  });

  it('is logged of 100 apps that nobody watches, and of all that somebody does', async () => {
    const { handler, service } = serve();
    const path = (app: number) => `/apps/app${app}/changes`;
    const key = (app: number) => ({ ...KEY, appName: `app${app}` });
    const ids: string[] = [];
    const watched = await openFeed(handler, path(0));
    for (let app = 0; app <= 101; app += 1) {
      const feed = app === 0 ? watched : await openFeed(handler, path(app));
      await service.createSession(key(app));
      ids.push((await next(feed)).id);
      if (app > 0) await feed.return(undefined);
    }
    for (const [app, type] of [
      [0, 'deleted'],
      [3, 'deleted'],
      [1, 'resync'],
    ] as const) {
      await service.deleteSession(key(app));
      const feed = await openFeed(handler, path(app), { 'last-event-id': ids[app]! });
      assert.equal(((await next(feed)).data as Notice).type, type, `app${app}`);
      await feed.return(undefined);
    }
    await watched.return(undefined);
  });

  it('ends with the service, and after its time', async () => {
    const { handler, service } = serve({ maxFeedAgeMs: 50 });
    const aged = feedEvents(await handler(requestTo(CHANGES)));
    assert.equal((await aged.next()).done, true);
    const closed = feedEvents(await handler(requestTo(CHANGES)));
    const ending = closed.next();
    await service.close();
    assert.equal((await ending).done, true);
    assert.equal((await handler(requestTo(CHANGES))).status, 503);
  });

  it('ends with the handler, which opens no other', async () => {
    const { handler, ask } = serve();
    const feeds = await Promise.all([CHANGES, CHANGES].map((path) => handler(requestTo(path))));
    const ended = feeds.map((feed) => feed.text());
    await Promise.all([handler.close(), handler.close(), ...ended]);
    const later = await handler(requestTo(CHANGES));
    assert.deepEqual([later.status, later.headers.get('retry-after')], [503, '1']);
    assert.equal((await ask(`/apps/${KEY.appName}/sessions`)).status, 200);
  });

  it('is not to be compressed: a compression would hold its events back', async () => {
    const { handler } = serve();
    const feed = await handler(requestTo(CHANGES));
    assert.match(feed.headers.get('cache-control')!, /\bno-transform\b/);
    await feed.body!.cancel();
  });

  it('is refused with 503 if too many are open, until one has ended', async () => {
    const { handler } = serve({ maxFeeds: 1 });
    const response = await handler(requestTo(CHANGES));
    const refused = await handler(requestTo(CHANGES));
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '10');
    await response.body!.cancel();
    const again = await handler(requestTo(CHANGES));
    assert.equal(again.status, 200);
    await again.body!.cancel();
  });

  it('ends when its request is aborted, also if nobody reads the response yet', async () => {
    const { service } = serve();
    const handler = sessionHandler(service, { authorize: () => true, maxFeeds: 1 });
    for (const isRead of [false, true]) {
      const { signal, abort } = abortable();
      const response = await handler(new Request(requestTo(`${CHANGES}?userId=ada`), { signal }));
      const read = isRead ? response.text() : undefined;
      abort();
      assert.equal(await (read ?? response.text()), '');
    }
    const { signal, abort } = abortable();
    abort();
    const late = await handler(new Request(requestTo(`${CHANGES}?userId=ada`), { signal }));
    assert.equal(await late.text(), '');
  });

  it('is not open after a HEAD, which has no body', async () => {
    const { handler } = serve({ maxFeeds: 1 });
    const head = await handler(requestTo(CHANGES, { method: 'HEAD' }));
    assert.deepEqual([head.status, head.body], [200, null]);
    const feed = await handler(requestTo(CHANGES));
    assert.equal(feed.status, 200);
    await feed.body!.cancel();
  });

  it('that nobody reads gets only the newest append of each session', async () => {
    const { handler, service } = serve();
    const response = await handler(requestTo(CHANGES));
    const session = await service.createSession(KEY);
    for (let number = 0; number < 500; number += 1) {
      await service.appendEvent({ session, event: { author: 'user', invocationId: 'i' } });
    }
    const events = feedEvents(response);
    assert.equal(((await next(events)).data as Notice).type, 'created');
    const { data } = await next(events);
    assert.equal((data as SessionNotice).revision, service.revisionOf(session));
    // The close ends the feed behind everything that it has to send.
    await service.close();
    assert.equal((await events.next()).done, true);
  });
});
