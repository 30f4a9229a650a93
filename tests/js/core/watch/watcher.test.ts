import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Watcher } from '../../../../js/core/watch/watcher.js';
import type { Notice } from '../../../../js/index.js';
import { KEY } from '../../service/fixture.js';

const appended = (revision: number): Notice => ({
  type: 'appended',
  ...KEY,
  revision,
  scopes: [],
});

describe('A watcher', () => {
  it('gives a slow reader the newest notice of a session', async () => {
    const watcher = new Watcher(KEY);
    watcher.push([appended(1), appended(2)]);
    watcher.push([appended(3)]);
    assert.deepEqual(await watcher.next(), { value: appended(3) });
    const next = watcher.next();
    watcher.push([appended(4)]);
    assert.deepEqual(await next, { value: appended(4) });
  });

  it('that finishes gives what is unread, and then ends its readers and tells its writer once', async () => {
    const watcher = new Watcher(KEY);
    let ends = 0;
    watcher.onEnd(() => void (ends += 1));
    watcher.push([appended(1)]);
    watcher.finish();
    watcher.push([appended(2)]);
    assert.deepEqual(await watcher.next(), { value: appended(1) });
    watcher.stop();
    assert.equal((await watcher.next()).done, true);
    assert.equal(ends, 1);
  });

  it('that its reader leaves drops what is unread', async () => {
    const watcher = new Watcher(KEY);
    watcher.push([appended(1)]);
    for await (const notice of watcher) {
      assert.deepEqual(notice, appended(1));
      watcher.push([appended(2)]);
      break;
    }
    assert.equal((await watcher.next()).done, true);
  });

  it('calls its listener after the call that pushed, once for notices that came together', async () => {
    const seen: Notice[] = [];
    const watcher = new Watcher(KEY, (notice) => seen.push(notice));
    watcher.push([appended(1)]);
    watcher.push([appended(2)]);
    assert.deepEqual(seen, []);
    await Promise.resolve();
    assert.deepEqual(seen, [appended(2)]);
  });
});
