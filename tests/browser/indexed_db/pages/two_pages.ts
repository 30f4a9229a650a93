import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Context, inTwoTabs, newName } from '../context.js';
import type { PagesReport } from '../page/pages/two_pages.js';

const SHARED = 'shared';
const WRITERS = ['left', 'right'];
const EVENTS = 1000;

export function twoPages(context: Context): void {
  it('two pages that count 1,000 each, all at once, count 2,000', async () => {
    await inTwoTabs(context, async (left, right) => {
      const name = newName();
      await left.start('countBesideAnother', name, EVENTS);
      await right.start('countBesideAnother', name, EVENTS);
      assert.deepEqual(await left.finish<'countBesideAnother'>(), [2 * EVENTS, 20]);
      assert.deepEqual(await right.finish<'countBesideAnother'>(), [2 * EVENTS, 20]);
    });
  });

  it('two pages that append to one database at once both read all events', async () => {
    await inTwoTabs(context, async (left, right) => {
      const name = newName();
      await left.start('workBesideAnother', name, 'left');
      await right.start('workBesideAnother', name, 'right');
      const seen = [
        await left.finish<'workBesideAnother'>(),
        await right.finish<'workBesideAnother'>(),
      ];
      for (const { yielded, ...rest } of seen.map(withoutFeed)) {
        assertComplete(rest);
        assertFeed(yielded);
      }
      assert.deepEqual(withoutFeed(seen[0]!).events, withoutFeed(seen[1]!).events);
    });
  });
}

type Yielded = PagesReport['revisions'];

function withoutFeed({
  revisions,
  ...rest
}: PagesReport): Omit<PagesReport, 'revisions'> & { yielded: Yielded } {
  return { ...rest, yielded: revisions };
}

function assertComplete({
  events,
  state,
  userState,
  appState,
}: Omit<PagesReport, 'revisions'>): void {
  const ids = Object.values(events).flat();
  assert.deepEqual(Object.keys(events).sort(), [...WRITERS, SHARED].sort());
  assert.equal(new Set(ids).size, EVENTS, 'each event is there');
  assert.equal(ids.length, EVENTS, 'no event is there twice');
  for (const [sessionId, own] of Object.entries(events)) {
    for (const writer of WRITERS) {
      const written = own.filter((id) => id.startsWith(`${sessionId}:${writer}-`));
      assert.deepEqual(written, [...written].sort(), `the events of ${writer} are in their order`);
    }
    const keys = state[sessionId]!.filter((key) => !/^(app|user):/.test(key));
    assert.deepEqual(keys.sort(), [...own].sort(), 'each event left its key in the session');
  }
  assert.ok(WRITERS.every((writer) => events[SHARED]!.some((id) => id.includes(`:${writer}-`))));
  ids.sort();
  assert.deepEqual([...userState].sort(), ids, 'each event left its key in the user state');
  assert.deepEqual([...appState].sort(), ids, 'each event left its key in the app state');
}

function assertFeed(yielded: Yielded): void {
  assert.deepEqual(Object.keys(yielded).sort(), [...WRITERS, SHARED].sort());
  for (const { stored, yielded: revisions } of Object.values(yielded)) {
    assert.equal(revisions.at(-1), stored, 'the last revision was yielded');
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
      'they only grow',
    );
  }
}
