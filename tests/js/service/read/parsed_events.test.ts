import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import { KEY, overStorages } from '../fixture.js';

const COUNT = 1000;

/** How many events `JSON.parse` makes while something runs: alone, or in an array. */
async function parsedWhile(run: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (...given: Parameters<typeof parse>): unknown => {
    const value: unknown = parse(...given);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (Object(each) === each && 'author' in (each as object)) count += 1;
    }
    return value;
  };
  try {
    await run();
  } finally {
    JSON.parse = parse;
  }
  return count;
}

overStorages('A read with numRecentEvents', (open) => {
  it('parses no event that it does not return', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    const events = Array.from({ length: COUNT }, (_, number) =>
      createEvent({ id: `e${number}`, author: 'user', content: `text ${number}` }),
    );
    await service.appendEvents({ session, events });
    for (const numRecentEvents of [0, 1, 20, 128, COUNT - 1, COUNT + 1]) {
      let read = 0;
      const parsed = await parsedWhile(async () => {
        const window = await service.getSession({ ...KEY, config: { numRecentEvents } });
        read = window!.events.length;
      });
      assert.equal(read, Math.min(numRecentEvents, COUNT));
      assert.equal(parsed, read);
    }
    await service.close();
  });
});
