import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import type { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { createEvent, type Event } from '../../../../../js/index.js';
import { numbers, type Open } from './concurrency.js';

const USER = { appName: 'app', userId: 'user' };
/** Several times the number of events that are parsed together. */
const COUNT = 500;
const LENGTH = 500;

const ids = (events: readonly Event[] | undefined) => events?.map(({ id }) => id);

/**
 * The service parses events in batches while their rows arrive. The result must not show this.
 *
 * @param run runs a statement in the database of that URL
 */
export function readsLongSessions(
  title: string,
  newUrl: () => string | Promise<string>,
  open: Open,
  run: (url: string, statement: string) => unknown,
) {
  describe(`A long session on ${title}`, () => {
    let url: string;
    let service: DatabaseSessionService;
    before(async () => {
      url = await newUrl();
      service = open(url);
    });
    after(() => service.close());

    const events = numbers(COUNT).map((number) =>
      createEvent({
        id: `e${number}`,
        invocationId: 'i',
        author: 'agent',
        timestamp: 1_000_000 + number,
        content: { parts: [{ text: `"${number}", ${'x'.repeat(LENGTH)}` }] },
        // Some events have a field that Python's form lacks, or a surrogate pair.
        ...(number % 100 === 50 && { myField: [number] }),
        ...(number % 100 === 70 && { branch: '😀' }),
      }),
    );

    async function written(sessionId: string) {
      const key = { ...USER, sessionId };
      const session = await service.createSession(key);
      await service.appendEvents({ session, events });
      return key;
    }

    it('returns all of its events, exactly and in order', async () => {
      const stored = await service.getSession(await written('whole'));
      assert.deepEqual(stored?.events, events);
    });

    it('returns the events of a window', async () => {
      const key = await written('window');
      const read = async (config: object) =>
        ids((await service.getSession({ ...key, config }))?.events);
      assert.deepEqual(await read({ numRecentEvents: 300 }), ids(events.slice(-300)));
      assert.deepEqual(await read({ afterTimestamp: 1_000_100 }), ids(events.slice(100)));
      const both = { afterTimestamp: 1_000_100, numRecentEvents: 7 };
      assert.deepEqual(await read(both), ids(events.slice(-7)));
    });

    it('returns an event whose ids and time stand only in the columns', async () => {
      const key = await written('columns');
      await run(
        url,
        `update events set event_data = '{"author": "somebody"}' where session_id = 'columns' and id = 'e300'`,
      );
      const read = (await service.getSession(key))?.events;
      assert.deepEqual(ids(read), ids(events));
      assert.deepEqual([read?.[300]?.author, read?.[300]?.invocationId], ['somebody', 'i']);
      assert.ok(Number(read?.[300]?.timestamp) > 1_000_300);
    });

    it('names a damaged event in the error, and is readable without it', async () => {
      const key = await written('damaged');
      await run(
        url,
        `update events set event_data = '5' where session_id = 'damaged' and id = 'e300'`,
      );
      await assert.rejects(service.getSession(key), { code: 'corrupt_record', message: /"e300"/ });
      const read = await service.getSession({ ...key, config: { skipCorrupt: true } });
      assert.deepEqual(ids(read?.events), ids(events.filter((_, number) => number !== 300)));
    });

    it('is readable after a failed read', async () => {
      const key = await written('refused');
      await run(url, 'alter table events rename to events_elsewhere');
      await assert.rejects(service.getSession(key), { name: 'SessionError' });
      await run(url, 'alter table events_elsewhere rename to events');
      assert.deepEqual(ids((await service.getSession(key))?.events), ids(events));
    });
  });
}
