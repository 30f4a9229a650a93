// Successive appends, while other code writes the same rows in between.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type StateShape } from 'adk-session-wasm';
import { type Context, inTab, newName } from '../context.js';
import { around } from '../page/around.js';
import { putRows, rows } from '../page/bare.js';
import { idsOf, keyOf, mark, say } from '../page/events.js';

/** What the tests call in the page. */
export const inPage = { takeTurns, changeByHand };
type Page = typeof inPage;

export function resuming(context: Context): void {
  for (const [what, order] of [
    ['one service after the other', 'aaaabbbb'],
    ['two services in turn', 'abababab'],
    ['one service alone', 'aaaaaaaa'],
  ] as const) {
    it(`appends of ${what} lose nothing, whatever the previous one did`, async () => {
      await inTab<Page>(context, async (tab) => {
        const { events, state, aborted } = await tab.call('takeTurns', newName(), order);
        const ids = [...order].map((turn, place) => `${turn}${place}`);
        assert.deepEqual(events, ids);
        const keys = ['begin', ...ids].flatMap((id) => [id, `user:${id}`, `app:${id}`]);
        assert.deepEqual(Object.keys(state).sort(), keys.sort());
        assert.equal(aborted, 0, 'no transaction was aborted');
      });
    });
  }

  it('an append reads changes made by hand since the previous append', async () => {
    await inTab<Page>(context, async (tab) => {
      const { events, state, aborted } = await tab.call('changeByHand', newName());
      assert.deepEqual(events, ['first', 'second']);
      assert.deepEqual(state, { begin: 0, 'user:b': 2, 'user:c': 3, 'app:b': 2 });
      assert.equal(aborted, 0, 'no transaction was aborted');
    });
  });
}

/** A delta that creates every row at the beginning. */
const BEGIN: StateShape = { begin: 0, 'user:begin': 0, 'app:begin': 0 };

/** The stored data at the end, and the number of rolled back transactions. */
interface Resumed {
  events: string[];
  state: StateShape;
  aborted: number;
}

/** How many transactions the package takes back meanwhile. */
export async function counting(run: () => Promise<void>): Promise<number> {
  let aborted = 0;
  const stop = around(IDBTransaction.prototype, 'abort', (_transaction, values, proceed) => {
    aborted += 1;
    return proceed(...values);
  });
  await run();
  stop();
  return aborted;
}

/** Two services append to one session, by the names of an order like `'aab'`. */
async function takeTurns(name: string, order: string): Promise<Resumed> {
  const services = {
    a: new IndexedDbSessionService({ name }),
    b: new IndexedDbSessionService({ name }),
  };
  const { a, b } = services;
  const session = await a.createSession({ ...keyOf('one'), state: BEGIN });
  const handles = { a: session, b: await b.getSession(keyOf('one')) };
  const aborted = await counting(async () => {
    for (const [place, turn] of [...order].entries()) {
      const who = turn as keyof typeof services;
      await services[who].appendEvent({ session: handles[who]!, event: mark(`${turn}${place}`) });
    }
  });
  const stored = await b.getSession(keyOf('one'));
  await a.close();
  await b.close();
  return { events: idsOf(stored), state: stored?.state ?? {}, aborted };
}

/** Changes a state by hand between two appends, without a new revision. */
async function changeByHand(name: string): Promise<Resumed> {
  const service = new IndexedDbSessionService({ name });
  const session = await service.createSession({ ...keyOf('one'), state: BEGIN });
  const aborted = await counting(async () => {
    await service.appendEvent({ session, event: say('first', { 'user:a': 1 }) });
    const states = await rows(name, 'states');
    await putRows(
      name,
      'states',
      states.map((row) => ({ ...row, state: '{"b":2}' })),
    );
    await service.appendEvent({ session, event: say('second', { 'user:c': 3 }) });
  });
  const stored = await service.getSession(keyOf('one'));
  await service.close();
  return { events: idsOf(stored), state: stored?.state ?? {}, aborted };
}
