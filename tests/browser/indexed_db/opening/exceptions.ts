import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTab, newName } from '../context.js';
import type { ThrowingMethod } from '../page/opening/exceptions.js';
import type { Broken, ThrowingPlace } from '../page/opening/opening_exceptions.js';

/** The calls of a method by the wasm that throw. */
const CALLS: Record<ThrowingMethod, number[]> = {
  join: [1],
  push: [1, 40, 300],
  concat: [1],
  pop: [1],
  now: [2, 50, 100],
};

/** The members that the wasm uses while it opens a database for the first time. */
const AT_OPENING: ThrowingPlace[] = [
  'the target of an event',
  'the result of a request',
  'the version of an event',
  'a listener of a connection',
  'the start of a timer',
  'the end of a timer',
  'the clock',
];

/** The members that the wasm uses while it closes the database. */
const LETTING_GO: ThrowingPlace[] = ['the close of a connection', 'a listener of a connection'];

function assertSettled({ thrown, outcomes, uncaught }: Broken, expected: string[]): void {
  assert.equal(thrown, 1, 'the exception was thrown');
  const last = outcomes.pop();
  assert.deepEqual(
    outcomes.filter((outcome) => !expected.includes(outcome)),
    [],
  );
  assert.equal(last, 'stored', 'the next call works');
  assert.deepEqual(uncaught, []);
}

export function exceptions(context: Context): void {
  for (const place of AT_OPENING) {
    it(`every call that waits for an opening settles when ${place} throws`, async () => {
      await inTab(context, async (tab) => {
        const broken = await tab.call('interruptOpening', newName(), place);
        assertSettled(broken, ['stored', 'internal']);
      });
    });
  }

  for (const place of LETTING_GO) {
    it(`the database is closed when ${place} throws`, async () => {
      await inTab(context, async (tab) => {
        assertSettled(await tab.call('interruptLettingGo', newName(), place), ['stored']);
      });
    });
  }

  it('a transaction without any event times out although the clock throws', async () => {
    await inTab(context, async (tab) => {
      const broken = await tab.call('interruptTimer', newName());
      assertSettled(broken, ['stored', 'connection_lost']);
    });
  });

  for (const method of Object.keys(CALLS) as ThrowingMethod[]) {
    for (const call of CALLS[method]) {
      it(`every call settles, and the next ones work, when call ${call} of ${method} throws`, async () => {
        await inTab(context, async (tab) => {
          const result = await tab.call('interrupt', newName(), method, call);
          const { thrown, outcomes, events, acknowledged, appended, uncaught } = result;
          assert.equal(thrown, 1, 'the exception was thrown');
          const codes = outcomes.filter((code) => code !== 'internal');
          assert.deepEqual(codes, []);
          assert.deepEqual(uncaught, []);
          const stored = new Set(events);
          assert.equal(stored.size, events.length, 'each event is stored once');
          assert.deepEqual(
            acknowledged.filter((id) => !stored.has(id)),
            [],
            'what was acknowledged is stored',
          );
          assert.deepEqual(
            events.filter((id) => !appended.includes(id)),
            [],
          );
        });
      });
    }
  }
}
