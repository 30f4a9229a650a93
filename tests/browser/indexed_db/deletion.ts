import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EngineName } from '../engine.js';
import { type Context, inTab, newName } from './context.js';

/** WebKit takes half a minute to write as many as the others; what is asked for does not depend on it. */
const EVENTS: Record<EngineName, number> = { chromium: 100_000, firefox: 100_000, webkit: 10_000 };

export function deletion(context: Context, engine: EngineName): void {
  const events = EVENTS[engine];
  it(`deleting a session of ${events.toLocaleString('en')} events is one deletion of a range, and counts nothing`, async () => {
    await inTab(context, async (tab) => {
      const { requests, records } = await tab.call('deleteLong', newName(), events);
      assert.ok(records[0] > 1);
      assert.equal(records[1], 1);
      assert.deepEqual(requests, ['delete of a range']);
    });
  });
}
