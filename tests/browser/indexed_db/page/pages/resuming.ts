// Successive appends, while other code writes the same rows in between.

import { IndexedDbSessionService, type StateShape } from 'adk-session-wasm';
import { around } from '../around.js';
import { putRows, rows } from '../bare.js';
import { idsOf, keyOf, mark, say } from '../events.js';

/** A delta that creates every row at the beginning. */
const BEGIN: StateShape = { begin: 0, 'user:begin': 0, 'app:begin': 0 };

/** The stored data at the end, and the number of rolled back transactions. */
export interface Resumed {
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
export async function takeTurns(name: string, order: string): Promise<Resumed> {
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
export async function changeByHand(name: string): Promise<Resumed> {
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
