// The first events that rewinds name are remembered. The view must be that of the stored events whatever is written
// afterwards, also by other programs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import SqliteDatabase from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { viewOf } from '../../../../../js/core/history/rules/view.js';
import { createEventActions, type NewEvent } from '../../../../../js/index.js';
import { microsToTimeText } from '../../../../../js/values/python/micros.js';
import { sqliteFiles } from '../../../../interop/database/shared_databases.js';

const key = { appName: 'app', userId: 'ada', sessionId: 's1' };
const START = Date.UTC(2020, 0, 1);
const COUNT = 62;

describe('A view after a rewind', () => {
  const newFile = sqliteFiles();

  /**
   * Stores events, one each `step` milliseconds, then a rewind before `target`, and reads the view.
   *
   * @returns `live` checks the view again, and returns how many events it has
   */
  async function rewound(step: number, target: string, invocations: Record<number, string> = {}) {
    const { ours } = await newFile();
    let time = START;
    const service = new DatabaseSessionService(ours, { clock: () => time });
    const file = new SqliteDatabase(ours.slice('sqlite:'.length));
    const session = await service.createSession(key);
    const append = async (...events: NewEvent[]) => {
      for (const event of events) {
        time += step;
        await service.appendEvent({ session, event: { ...event, timestamp: time } });
      }
    };
    const turns = Array.from({ length: COUNT }, (_, n) => {
      return { id: `e${n}`, invocationId: invocations[n] ?? `i${n}` };
    });
    const actions = { ...createEventActions(), rewindBeforeInvocationId: target };
    await append(...turns, { id: 'r', invocationId: 'r', author: 'user', actions });
    // A longer window than before is not read from the cached end of the view.
    let numRecentEvents = 8;
    const live = async (): Promise<number> => {
      await append({ invocationId: 'next' });
      numRecentEvents += 1;
      const config = { view: 'transcript', numRecentEvents } as const;
      const { events } = (await service.getSession({ ...key, config }))!;
      const stored = (await service.getSession(key))!.events;
      const all = viewOf(stored, 'transcript').events;
      assert.deepEqual(events, all.slice(-numRecentEvents));
      return all.length;
    };
    const end = async () => {
      file.close();
      await service.close();
    };
    await live();
    return { append, file, live, end };
  }

  it('counts an earlier event of the invocation, from a clock that is a little behind', async () => {
    const { file, live, end } = await rewound(100, 'i60');
    assert.equal(await live(), 60 + 2);
    const insert = `insert into events select 'late', app_name, user_id, session_id, 'i60', ?, ? from events where id = 'e0'`;
    const time = START + 5 * 100 + 50;
    const text = JSON.stringify({ author: 'user', timestamp: time / 1000 });
    file.prepare(insert).run(microsToTimeText(time * 1000), text);
    assert.equal(await live(), 5 + 3);
    await end();
  });

  for (const step of [100, 20_000]) {
    it(`counts a replaced event that got the invocation (${step} ms a turn)`, async () => {
      const { append, live, end } = await rewound(step, 'i60');
      assert.equal(await live(), 60 + 2);
      await append({ id: 'e5', invocationId: 'i60' });
      assert.equal(await live(), 5 + 3);
      await end();
    });

    it(`counts the next event of the invocation if the first was deleted (${step} ms a turn)`, async () => {
      const { file, live, end } = await rewound(step, 'i5', { 40: 'i5' });
      assert.equal(await live(), 5 + 2);
      file.exec("delete from events where id = 'e5'");
      assert.equal(await live(), 39 + 3);
      await end();
    });
  }
});
