import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, inTwoTabs, newName } from '../context.js';

export function loss(context: Context, browserName: BrowserName): void {
  it('a database that the browser deleted is reported as lost by storage.lost and by watch', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
    });
    await inTab(context, async (tab) => {
      const { lost, notices, events } = await tab.call('open', name);
      assert.equal(lost.before, '');
      assert.match(lost.after, new RegExp(`gave up the database "${name}"`));
      assert.deepEqual(notices, ['lost']);
      assert.deepEqual(events, []);
    });
    await inTab(context, async (tab) => {
      const { lost, notices } = await tab.call('open', name);
      assert.deepEqual([lost.after, notices], ['', []], 'the next visit finds nothing lost');
    });
  });

  it('a first visit, a second one and one after deleteDatabase report no loss', async () => {
    const name = newName();
    for (const before of [[], ['make'], ['deleteAsUser'], ['make', 'deleteAsUser']] as const) {
      await inTab(context, async (tab) => {
        for (const step of before) await tab.call(step, name);
        const { lost, notices } = await tab.call('open', name);
        assert.deepEqual([lost.after, notices], ['', []], `after ${before.join(', ')}`);
      });
    }
  });

  // The other browsers have no command for it.
  if (browserName === 'chromium') {
    it('a visit after the user cleared the site data counts as a first visit', async () => {
      const name = newName();
      await inTab(context, async (tab) => {
        await tab.call('make', name);
        const { origin } = context.site;
        await context.browser.debug('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
      });
      await inTab(context, async (tab) => {
        const { lost } = await tab.call('open', name);
        assert.equal(lost.after, '');
      });
    });
  }

  it('onDataLoss fills the store before the first call resolves, in one of two tabs', async () => {
    const name = newName();
    await inTwoTabs(context, async (one, other) => {
      await one.call('make', name);
      await one.call('giveUp', name);
      await one.start('refill', name);
      await other.start('refill', name);
      const both = [await one.finish<'refill'>(), await other.finish<'refill'>()];
      assert.deepEqual(both.map(({ asked }) => asked).sort(), [0, 1]);
      for (const { asked, events } of both) {
        // Without locks between tabs, as in WebKitGTK, the other tab may come too early.
        if (asked === 1) assert.deepEqual(events, ['refilled']);
        else assert.ok(events.length === 1, 'the other tab waits');
      }
    });
  });

  it('a tab that finds the new database before the other one noted the loss waits for onDataLoss', async () => {
    const name = newName();
    await inTwoTabs(context, async (one, other) => {
      await one.call('make', name);
      await one.call('giveUp', name);
      await one.start('refillLate', name);
      const second = await other.call('refillOnceThere', name);
      const both = [second, await one.finish<'refillLate'>()];
      assert.deepEqual(both.map(({ asked }) => asked).sort(), [0, 1]);
      for (const { events } of both) assert.deepEqual(events, ['refilled']);
    });
  });

  it('a loss is not forgotten when its service is dropped right after open()', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      assert.equal(await tab.call('openAndDrop', name), 0);
    });
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
    });
  });

  it('onDataLoss is called again after a failure, even at the next visit', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { failed, asked } = await tab.call('refillInVain', name);
      assert.deepEqual(failed.length, 2);
      for (const message of failed) assert.match(message, /^storage_failed: .*no network/);
      assert.equal(asked, 2);
    });
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
      assert.deepEqual(await tab.call('refill', name), { asked: 0, events: ['refilled'] });
    });
  });

  it('a call of onDataLoss on another service fails, and so does the first call', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { inner, first } = await tab.call('refillByItself', name);
      for (const { code, message } of [inner, first]) {
        assert.equal(code, 'connection_lost');
        assert.match(message, /use only the service that it is given/);
      }
    });
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('refill', name), { asked: 1, events: ['refilled'] });
    });
  });

  it('calls wait at most timeoutMs for onDataLoss, which continues', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('make', name);
      await tab.call('giveUp', name);
      const { failed, events } = await tab.call('refillSlowly', name);
      const codes = failed.map(({ code }) => code);
      assert.deepEqual(codes, ['connection_lost', 'connection_lost']);
      assert.deepEqual(events, ['refilled 1']);
    });
  });

  it('a page without a Cache API works', async () => {
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('openWithoutCaches', newName()), ['event 0']);
    });
  });

  it('an onDataLoss that is not a function is refused', async () => {
    await inTab(context, async (tab) => {
      assert.equal((await tab.call('refuseWrongOption')).code, 'invalid_argument');
    });
  });
}
