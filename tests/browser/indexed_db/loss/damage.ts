// Records that were damaged by hand.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { putRows, type Row, rows } from '../page/bare.js';
import { APP, type Failure, failure, idsOf, keyOf, mark, numbers } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { damageEvent, takeNumber };
type Page = typeof inPage;

export function damage(context: Context): void {
  for (const [where, what] of [
    ['single', 'a record of its own'],
    ['page', 'a page record'],
  ] as const) {
    it(`a damaged event in ${what} is named, and everything else stays readable`, async () => {
      await inTab<Page>(context, async (tab) => {
        const result = await tab.call('damageEvent', newName(), where);
        const { failed, id, all, others, appended } = result;
        assert.equal(result.size > 1, where === 'page');
        assert.equal(failed.code, 'corrupt_record');
        assert.ok(failed.record?.includes(id), `${failed.record} names ${id}`);
        const rest = all.filter((other) => other !== id);
        assert.deepEqual(others, rest);
        assert.deepEqual(result.latest, all.slice(-1), 'a window without it is read');
        assert.deepEqual(appended.slice(0, -1), rest, 'the session goes on');
        assert.deepEqual(result.healthy, ['well']);
        assert.deepEqual(result.listed, ['damaged', 'healthy']);
      });
    });
  }

  it('a session with the number of another one is refused, and harms nothing of the other', async () => {
    await inTab<Page>(context, async (tab) => {
      const { failed, others } = await tab.call('takeNumber', newName());
      for (const { code, record } of Object.values(failed)) {
        assert.equal(code, 'corrupt_record');
        assert.match(record ?? '', /session "damaged"/);
      }
      assert.deepEqual(others, [['secret'], ['secret']]);
    });
  });
}

const EVENTS = 300;

interface DamageResult {
  /** The event whose record was damaged, and how many events that record holds. */
  id: string;
  size: number;
  failed: Failure;
  /** The other events that are read. */
  others: string[];
  latest: string[];
  /** The expected events. */
  all: string[];
  healthy: string[];
  listed: string[];
  /** The events that are read after one more append. */
  appended: string[];
}

/** Damages one event, in a record of many events or in a separate record. */
async function damageEvent(name: string, where: 'page' | 'single'): Promise<DamageResult> {
  const service = new IndexedDbSessionService({ name });
  const all = numbers(EVENTS).map((number) => `event-${number}`);
  const session = await service.createSession(keyOf('damaged'));
  await service.appendEvents({ session, events: all.slice(0, EVENTS - 5).map(mark) });
  for (const id of all.slice(EVENTS - 5)) {
    await service.appendEvent({ session, event: mark(id) });
  }
  const healthy = await service.createSession(keyOf('healthy'));
  await service.appendEvents({ session: healthy, events: [mark('well')] });

  const records = await rows(name, 'events');
  const record = records.find(
    (row) => isMany(row) === (where === 'page') && !holds(row, all.at(-1)!),
  );
  if (record === undefined) throw new Error(`no event lies in a ${where}`);
  const ids = record.ids as string[];
  const id = ids[Math.floor(ids.length / 2)]!.replace(/^\d+\//, '');
  const [whole, broken] = [`"id":"${id}"`, `"id";"${id}"`];
  const text = record.text as string;
  if (!text.includes(whole)) throw new Error('the record does not hold the event as JSON');
  await putRows(name, 'events', [{ ...record, text: text.replace(whole, broken) }]);

  const failed = await failure(() => service.getSession(keyOf('damaged')));
  const read = async (config: { skipCorrupt?: true; numRecentEvents?: number }) =>
    idsOf(await service.getSession({ ...keyOf('damaged'), config }));
  const others = await read({ skipCorrupt: true });
  const latest = await read({ numRecentEvents: 1 });
  await service.updateState({ ...keyOf('damaged'), stateDelta: { more: true } });
  const result = {
    id,
    size: ids.length,
    failed,
    others,
    latest,
    all,
    healthy: idsOf(await service.getSession(keyOf('healthy'))),
    listed: (await service.listSessions({ appName: APP })).sessions.map(({ id }) => id).sort(),
    appended: await read({ skipCorrupt: true }),
  };
  await service.close();
  return result;
}

interface OtherNumber {
  failed: { read: Failure; append: Failure; list: Failure };
  /** The events of the other session, before and after the damaged one was deleted. */
  others: string[][];
}

/** Gives the record of one session the number of another. */
async function takeNumber(name: string): Promise<OtherNumber> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession(keyOf('damaged'));
  await service.appendEvent({ session, event: mark('own') });
  const other = await service.createSession(keyOf('other'));
  await service.appendEvent({ session: other, event: mark('secret') });
  const [damaged, healthy] = await rows(name, 'sessions');
  await putRows(name, 'sessions', [{ ...damaged, number: healthy?.number }]);
  const failed = {
    read: await failure(() => service.getSession(keyOf('damaged'))),
    append: await failure(() => service.appendEvent({ session, event: mark('astray') })),
    list: await failure(() => service.listSessions({ appName: APP })),
  };
  const others = [idsOf(await service.getSession(keyOf('other')))];
  await service.deleteSession(keyOf('damaged'));
  others.push(idsOf(await service.getSession(keyOf('other'))));
  await service.close();
  return { failed, others };
}

function isMany(row: Row): boolean {
  return (row.ids as string[]).length > 1;
}

function holds(row: Row, id: string): boolean {
  return (row.ids as string[]).some((entry) => entry.endsWith(`/${id}`));
}
