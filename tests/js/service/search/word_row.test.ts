import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CUT } from '../../../../js/core/word_rows.js';
import { Pauses } from '../../../../js/service/search/pauses.js';
import { addEvents, draftOf, rowOf } from '../../../../js/service/search/word_row.js';
import { says } from '../fixture.js';

const SESSION = {
  sessionId: 's1',
  version: 1,
  title: undefined,
  lastUpdateTime: 0,
  labels: {},
  isStale: true,
  found: 0,
};
const UNKNOWN = { revision: undefined, eventCount: undefined };

describe('A row of words', () => {
  it('that lacks words after a megabyte tells so, whether its events were read or added', async () => {
    const whole = ` ${'x'.repeat(2 ** 20 - 1)}`;
    for (const [text, isCut] of [
      [`${whole} tea`, true],
      [whole, false],
      [whole.slice(0, -1), false],
    ] as const) {
      const pauses = new Pauses();
      const none = { lines: [], isCut: false, seen: [] };
      const { draft: added } = await addEvents(none, [says(text)], pauses);
      for (const draft of [added, await draftOf([says(text)], pauses)]) {
        const { words } = rowOf(SESSION, draft, UNKNOWN);
        assert.equal(words.startsWith(CUT), isCut);
        assert.ok(Math.abs(words.length - 2 ** 20) < 3, `${words.length}`);
      }
    }
  });

  it('that the newest event fills tells that it lacks the others', async () => {
    const newest = says(` ${'x'.repeat(2 ** 20 - 1)}`);
    const pauses = new Pauses();
    const none = { lines: [], isCut: false, seen: [] };
    const { draft: added } = await addEvents(none, [says('tea'), newest], pauses);
    for (const draft of [added, await draftOf([newest, says('tea')], pauses)]) {
      const { words } = rowOf(SESSION, draft, UNKNOWN);
      assert.ok(words.startsWith(CUT));
      assert.ok(!words.includes('tea'));
    }
  });
});
