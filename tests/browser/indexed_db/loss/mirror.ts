import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrowserName } from '../../browser.js';
import { type Context, inTab, inTwoTabs, newName, type PageTab } from '../context.js';
import { leaving } from '../pages/history.js';

/** Checks that database and mirror are equal, and returns their content. */
async function assertMirrored(tab: PageTab, name: string): Promise<string[]> {
  const { primary, mirror, seqs } = await tab.call('copies', name);
  assert.equal(seqs[1], seqs[0], 'both have come as far');
  // Not deepEqual: it would print both.
  assert.ok(JSON.stringify(mirror) === JSON.stringify(primary), 'both hold the same');
  return primary;
}

export function mirror(context: Context, browserName: BrowserName): void {
  if (browserName !== 'chromium') {
    it('a mirror is refused with unsupported, also by auto', async () => {
      await inTab(context, async (tab) => {
        const { opened, auto } = await tab.call('openMirrored', newName());
        assert.deepEqual([opened.code, auto.code], ['unsupported', 'unsupported']);
        assert.match(opened.message, /Storage Buckets/);
      });
    });
    return;
  }

  it('a mirror holds the results of all writes, and restores a lost database completely', async () => {
    const name = newName();
    const options = { name, mirror: true };
    let all: { sessions: string[]; lost: string };
    let records: string[];
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', options, 'one');
      records = await assertMirrored(tab, name);
      all = await tab.call('readAll', options);
      assert.equal(all.sessions.length, 1);
      await tab.call('giveUp', name);
    });
    await inTab(context, async (tab) => {
      assert.deepEqual(await tab.call('readAll', options), { ...all, lost: '' });
      assert.deepEqual(await assertMirrored(tab, name), records);
      await tab.call('writeMuch', options, 'two');
      await assertMirrored(tab, name);
    });
  });

  it('a service without the option keeps the mirror, and restores a lost database from it', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', { name, mirror: true }, 'one');
      await tab.call('writeMuch', { name }, 'two');
      const records = await assertMirrored(tab, name);
      await tab.call('giveUp', name);
      await tab.call('readAll', { name });
      assert.deepEqual(await assertMirrored(tab, name), records);
    });
  });

  it('a mirror is made for existing records, while another service writes', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', { name }, 'before');
      const events = ['plain 1', 'plain 2', 'plain 3', 'plain 4', 'mirrored 5'];
      assert.deepEqual(await tab.call('attachBeside', name), events);
      await assertMirrored(tab, name);
    });
  });

  it('an append that the mirror refuses is connection_lost, and reaches it at the next opening', async () => {
    for (const [isLost, reason, advice] of [
      [false, 'QuotaExceededError', /its mirror has no room: delete sessions first/],
      [true, 'UnknownError', /UnknownError: not now/],
    ] as const) {
      const name = newName();
      await inTab(context, async (tab) => {
        await tab.call('writeMuch', { name, mirror: true }, 'one');
        const { code, message } = await tab.call('appendWithoutMirror', name, 'half', reason);
        assert.equal(code, 'connection_lost');
        assert.match(message, advice);
        if (isLost) await tab.call('giveUp', name);
      });
      await inTab(context, async (tab) => {
        const { sessions } = await tab.call('readAll', { name, mirror: true });
        const isStored = sessions.some((session) => session.includes('"half"'));
        assert.equal(isStored, !isLost, 'it is whole, or not there');
        await assertMirrored(tab, name);
      });
    }
  });

  it('a database that fell behind its mirror is restored from it', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', { name, mirror: true }, 'one');
      await tab.call('fallBack', name);
    });
    await inTab(context, async (tab) => {
      const { sessions } = await tab.call('readAll', { name, mirror: true });
      assert.ok(sessions.some((session) => session.includes('later:y')));
      await assertMirrored(tab, name);
    });
  });

  it('an interrupted restore is repeated; without a mirror, the loss is reported', async () => {
    for (const isGone of [false, true]) {
      const name = newName();
      await inTab(context, async (tab) => {
        await tab.call('writeMuch', { name, mirror: true }, 'one');
        await tab.call('putMark', name, { isRestoring: true });
        if (isGone) await tab.call('loseMirror', name);
      });
      await inTab(context, async (tab) => {
        const { sessions, lost } = await tab.call('readAll', { name, mirror: true });
        assert.equal(sessions.length, isGone ? 0 : 1);
        assert.equal(lost !== '', isGone);
        await assertMirrored(tab, name);
      });
    }
  });

  it('a mirror that is lost is made again', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', { name, mirror: true }, 'one');
      await tab.call('loseMirror', name);
    });
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', { name, mirror: true }, 'two');
      await assertMirrored(tab, name);
    });
  });

  it('a mirror that is lost during writes is made again', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      await tab.start('appendMany', name, 'a', 100);
      await inTab(context, async (other) => {
        for (let loss = 0; loss < 5; loss += 1) await other.call('loseMirror', name);
      });
      assert.equal((await tab.finish<'appendMany'>()).length, 100);
      await assertMirrored(tab, name);
    });
  });

  it('a database that is lost during writes loses no acknowledged event', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      const { told, stored } = await tab.call('appendWhileLost', name);
      const left = new Set(stored);
      assert.deepEqual(
        told.filter((id) => !left.has(id)),
        [],
      );
      assert.equal(left.size, stored.length);
      await assertMirrored(tab, name);
    });
  });

  it('a copy that an ended tab left unfinished is deleted at the next opening', async () => {
    const options = { name: newName(), mirror: true };
    let records: string[];
    await inTab(context, async (tab) => {
      await tab.call('writeMuch', options, 'one');
      records = await assertMirrored(tab, options.name);
      await tab.call('leaveCopy', options.name);
    });
    await inTab(context, async (tab) => {
      await tab.call('readAll', options);
      assert.deepEqual(await assertMirrored(tab, options.name), records);
    });
  });

  it('two tabs that write to one database have one mirror with all writes', async () => {
    const name = newName();
    await inTwoTabs(context, async (one, other) => {
      await one.start('writeMuch', { name, mirror: true }, 'one');
      await other.start('writeMuch', { name }, 'other');
      await one.finish();
      await other.finish();
      await one.start('appendMany', name, 'one more', 60);
      await other.start('appendMany', name, 'other more', 60);
      await one.finish();
      await other.finish();
      await assertMirrored(one, name);
    });
  });

  it('a tab that opens a database while another tab writes does not copy it again', async () => {
    const name = newName();
    await inTwoTabs(context, async (one, other) => {
      await one.call('writeMuch', { name, mirror: true }, 'one');
      const { set } = await one.call('copies', name);
      await one.start('appendMany', name, 'more', 100);
      await other.call('openMany', name, 10);
      await one.finish();
      assert.equal((await one.call('copies', name)).set, set);
      await assertMirrored(one, name);
    });
  });

  it('a mirror is refused with connection_lost while a deletion waits for another connection', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      assert.equal((await tab.call('attachInVain', name)).code, 'connection_lost');
      await assertMirrored(tab, name);
    });
  });

  it('a deletion fails with connection_lost if the mirror cannot be opened, and deletes nothing', async () => {
    await inTab(context, async (tab) => {
      const name = newName();
      assert.equal((await tab.call('deleteInVain', name)).code, 'connection_lost');
      await assertMirrored(tab, name);
    });
  });

  it('a connection to the mirror that opens after its timeout is closed', async () => {
    await inTab(context, async (tab) => {
      const { failed, late, open } = await tab.call('openMirrorLate', newName());
      assert.equal(failed.code, 'connection_lost');
      assert.ok(late > 0, 'it opens later');
      assert.equal(open, 0);
    });
  });

  it('a database that was deleted with its mirror stays deleted', async () => {
    const name = newName();
    await inTwoTabs(context, async (one, other) => {
      await one.call('writeMuch', { name, mirror: true }, 'one');
      await other.call('deleteAsUser', name);
      assert.deepEqual(await one.call('readAll', { name, mirror: true }), {
        sessions: [],
        lost: '',
      });
      await assertMirrored(one, name);
    });
  });

  leaving(context, true);

  // Other pages would wait for that lock, until the browser gives the page up.
  it('a page that is left while its mirror is written requests no lock before the user returns', async () => {
    const name = newName();
    await inTab(context, async (tab) => {
      const { locks, events } = await tab.call('leaveInMirroring', name);
      assert.equal(locks, 0);
      assert.deepEqual(events, ['appended']);
      await assertMirrored(tab, name);
    });
  });

  it('a mirror option that is not a boolean is refused', async () => {
    await inTab(context, async (tab) => {
      assert.equal((await tab.call('refuseWrongMirror')).code, 'invalid_argument');
    });
  });
}
