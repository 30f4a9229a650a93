import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, newName } from '../context.js';

export function connections(context: Context, browserName: BrowserName): void {
  it('a closed connection is reopened by the next call, whose diagnostic counts the retry', async () => {
    await inTab(context, async (tab) => {
      const { seen, calls, counted } = await tab.call('closeBeneath', newName());
      const [written, read, grouped] = seen;
      assert.deepEqual(written, ['first', 'write']);
      assert.deepEqual(read, ['first', 'write']);
      assert.deepEqual(grouped, ['first', 'write', 'a', 'b', 'c']);
      assert.deepEqual(calls, [
        ['appendEvent', 1, 1],
        ['getSession', 1, null],
        ...Array<unknown>(3).fill(['appendEvent', 1, 3]),
        ['getSession', 0, null],
        ['listSessions', 1, null],
        // The group failed, and each of its appends was stored alone.
        ...Array<unknown>(2).fill(['appendEvent', 1, 1]),
        ['deleteSession', 1, null],
        ...Array<unknown>(2).fill(['updateState', 1, null]),
        ['getAppState', 0, null],
      ]);
      assert.equal(counted, 2);
    });
  });

  it('a deletion whose answer was lost is not repeated, and fails with connection_lost', async () => {
    await inTab(context, async (tab) => {
      const { failed, state } = await tab.call('loseDeletion', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.deepEqual(state, { again: 1 });
    });
  });

  // The other browsers have no command for it.
  if (browserName === 'chromium') {
    it('a database that the browser cleared is created again by the next call', async () => {
      await inTab(context, async (tab) => {
        await tab.call('connect', newName());
        const { origin } = context.site;
        await context.browser.debug('Storage.clearDataForOrigin', {
          origin,
          storageTypes: 'indexeddb',
        });
        assert.deepEqual(await tab.call('appendOne', 'after'), ['after']);
        assert.ok(await tab.call('resynced'), 'the feed says that it may have missed something');
      });
    });
  }

  it('a transaction without any event times out, and stores nothing', async () => {
    await inTab(context, async (tab) => {
      const { failures, handle, stored, again } = await tab.call('waitInVain', newName());
      const codes = failures.map(({ code }) => code);
      assert.deepEqual(codes, ['connection_lost', 'connection_lost', 'connection_lost']);
      assert.deepEqual(handle, ['before']);
      assert.deepEqual(stored, ['before']);
      assert.deepEqual(again, ['before', 'late']);
    });
  });

  it('a write whose signal fires while it waits for the stores is aborted, and stores nothing', async () => {
    await inTab(context, async (tab) => {
      const { codes, haveReason, events, keys, retried } = await tab.call(
        'abortWhileHeld',
        newName(),
      );
      assert.deepEqual(codes, {
        append: 'aborted',
        'append to two': 'aborted',
        'append to three': 'aborted',
        create: 'aborted',
        update: 'aborted',
        delete: 'aborted',
      });
      assert.ok(haveReason);
      assert.deepEqual([events, keys], [[], []]);
      assert.deepEqual(retried, ['aborted']);
    });
  });

  it('an opening without any event times out, and succeeds at the next call', async () => {
    await inTab(context, async (tab) => {
      const { failed, after } = await tab.call('openInVain', newName());
      assert.ok(['connection_lost', 'storage_blocked'].includes(failed.code), failed.code);
      assert.deepEqual(after, ['after']);
    });
  });
}
