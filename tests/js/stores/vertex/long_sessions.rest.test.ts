// A session of a thousand events: what it takes to read it, to read its end, and to go on.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { createEvent, type Event } from '../../../../js/index.js';
import { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { ENGINE, startVertexServer, type VertexServer } from '../../../vertex_server/server.js';
import { KEY, post, serviceOn } from './service.js';

const COUNT = 1050;
/** The server's page size. */
const PAGE = 100;
const BEGIN = 1_700_000_000_000;
const TEXTS = Array.from({ length: COUNT }, (_, number) => `message ${number}`);

describe('A session of a thousand events at Vertex AI', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  before(async () => {
    server = await startVertexServer({ pageSize: PAGE, clock: () => BEGIN });
    service = serviceOn(server);
    await service.createSession(KEY);
    for (const [number, text] of TEXTS.entries()) {
      await post(server, `${ENGINE}/sessions/s1:appendEvent`, {
        author: 'user',
        invocationId: 'i',
        timestamp: new Date(BEGIN + number * 1000).toISOString(),
        content: { role: 'user', parts: [{ text }] },
      });
    }
  });
  after(async () => {
    await service.close();
    await server.end();
  });
  beforeEach(() => server.forget());

  const requests = (call: string) => server.calls.filter((made) => made === call).length;

  it('is read with one request a page', async () => {
    const session = await service.getSession(KEY);
    assert.deepEqual(session?.events.map(textOf), TEXTS);
    assert.equal(requests('events.list'), Math.ceil(COUNT / PAGE));
    assert.ok(requests('sessions.get') <= 2);
  });

  it('is read from its end if only the last events are wanted', async () => {
    const config = { numRecentEvents: 10 };
    const session = await service.getSession({ ...KEY, config });
    assert.deepEqual(session?.events.map(textOf), TEXTS.slice(-10));
    assert.equal(requests('events.list'), 1);
  });

  it('is walked through with one request a page, and one that looks for later events', async () => {
    const pages = Math.ceil(COUNT / PAGE);
    const walk = async (order: 'asc' | 'desc') => {
      const texts = [];
      for await (const event of service.events({ ...KEY, order })) texts.push(textOf(event));
      return texts;
    };
    assert.deepEqual(await walk('asc'), TEXTS);
    assert.equal(requests('events.list'), pages + 1);
    server.forget();
    assert.deepEqual(await walk('desc'), TEXTS.toReversed());
    assert.equal(requests('events.list'), 1 + pages);
    server.forget();
    assert.equal((await service.sessionInfo(KEY)).eventCount, COUNT);
    assert.equal(requests('events.list'), pages);
  });

  it('is read by one request if a walk back ends on its first page', async () => {
    for await (const event of service.events({ ...KEY, order: 'desc', limit: 20 })) {
      assert.equal(textOf(event), TEXTS.at(-1));
      break;
    }
    assert.equal(requests('events.list'), 1);
  });

  it('is appended to with as few requests as a short one', async () => {
    const session = await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    assert.ok(session);
    server.forget();
    await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
    assert.deepEqual(server.calls.toSorted(), [
      'events.list',
      'sessions.appendEvent',
      'sessions.get',
    ]);
  });
});

function textOf({ content }: Event): unknown {
  return content?.parts?.[0]?.text;
}
