import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { APP, type FeedEvent, feedEvents, KEY, requestTo, seed, serve } from './fixture.js';

async function next(events: AsyncGenerator<FeedEvent>): Promise<FeedEvent> {
  const { value } = (await events.next()) as { value: FeedEvent };
  return value;
}

const CHANGES = `/apps/${APP}/changes`;

describe('A change feed', () => {
  it('sends the notices of a user or a session as server-sent events', async () => {
    const { handler, service } = serve();
    const response = await handler(requestTo(`${CHANGES}?userId=ada&sessionId=s1`));
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const events = feedEvents(response);
    await service.createSession({ ...KEY, sessionId: 'other' });
    await seed(service);
    const { id, data } = await next(events);
    assert.equal(id, '1');
    assert.deepEqual(
      { ...(data as object), revision: 0 },
      { type: 'created', ...KEY, revision: 0, scopes: [] },
    );
    await service.deleteSession(KEY);
    assert.equal(((await next(events)).data as { type: string }).type, 'deleted');
    await events.return(undefined);
  });

  it('that continues another one begins with resync', async () => {
    const { handler } = serve();
    const events = feedEvents(
      await handler(requestTo(CHANGES, { headers: { 'last-event-id': '7' } })),
    );
    assert.deepEqual((await next(events)).data, { type: 'resync' });
    await events.return(undefined);
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

  it('that nobody reads holds only the newest notice of each session', async () => {
    const { handler, service } = serve();
    const response = await handler(requestTo(CHANGES));
    const session = await service.createSession(KEY);
    for (let number = 0; number < 500; number += 1) {
      await service.appendEvent({ session, event: { author: 'user', invocationId: 'i' } });
    }
    const events = feedEvents(response);
    const { data } = await next(events);
    assert.equal((data as { revision: number }).revision, service.revisionOf(session));
    assert.equal(await Promise.race([events.next(), sleep(20, 'nothing')]), 'nothing');
    await service.close();
  });
});
