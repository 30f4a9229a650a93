import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent } from '../../../../../js/index.js';
import type { Open } from './concurrency.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'session' };

/** Values of `event_data` that the package never writes. */
const FOREIGN = [
  '{"timestamp": -5}',
  '{"timestamp": 1e300}',
  '{"timestamp": "7.5"}',
  '{"timestamp": true}',
  '{"timestamp": null}',
  '{"timestamp": 5}',
  '{"timestamp": 5.000001}',
  '{"timestamp": 7.25}',
  '{}',
  '[]',
];

/**
 * SQL selects events by the time in their JSON. The result must be the one that JavaScript computes.
 *
 * @param run runs a statement in the database of that URL
 */
export function choosesByTime(
  title: string,
  newUrl: () => string | Promise<string>,
  open: Open,
  run: (url: string, statement: string) => unknown,
  foreign: readonly string[] = FOREIGN,
) {
  it(`afterTimestamp on ${title} selects events by their time, whatever timestamp their JSON has`, async () => {
    const url = await newUrl();
    const service = open(url);
    const session = await service.createSession(KEY);
    const events = [1000, 5000, 5000.001, 7250, 253402300799999].map((timestamp, number) =>
      createEvent({ id: `own${number}`, author: 'agent', invocationId: 'i', timestamp }),
    );
    // The package stores this event in its own member, since Python's form lacks the field.
    events.push(createEvent({ id: 'more', timestamp: 6000, myField: 1 }));
    const rows = foreign.map((_, number) => createEvent({ id: `foreign${number}` }));
    await service.appendEvents({ session, events: [...events, ...rows] });
    for (const [number, data] of foreign.entries()) {
      await run(url, `update events set event_data = '${data}' where id = 'foreign${number}'`);
    }
    const all = (await service.getSession(KEY))?.events ?? [];
    assert.equal(all.length, events.length + foreign.length);
    for (const afterTimestamp of [0, 4999.999, 5000, 5000.001, 5000.002, 7250, 7251, 1e13, 1e300]) {
      const config = { afterTimestamp };
      const chosen = (await service.getSession({ ...KEY, config }))?.events ?? [];
      assert.deepEqual(
        chosen.map(({ id }) => id),
        all.filter(({ timestamp }) => timestamp >= afterTimestamp).map(({ id }) => id),
        `after ${afterTimestamp}`,
      );
    }
    await service.close();
  });
}

/** Python also writes NaN, which is not JSON. SQLite and MariaDB store it. */
export const FOREIGN_TEXT: readonly string[] = [...FOREIGN, '{"timestamp": NaN}'];
