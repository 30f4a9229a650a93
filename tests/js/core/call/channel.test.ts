import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Channel, Newest } from '../../../../js/core/call/channel.js';

interface Value {
  readonly number: number;
}

const newest = (): Channel<Value> => new Channel<Value>(new Newest());

describe('A channel of the newest value', () => {
  it('gives a slow reader the newest value', async () => {
    const channel = newest();
    channel.push([{ number: 1 }, { number: 2 }]);
    channel.push([{ number: 3 }]);
    assert.deepEqual(await channel.next(), { value: { number: 3 } });
    const next = channel.next();
    channel.push([{ number: 4 }]);
    assert.deepEqual(await next, { value: { number: 4 } });
  });

  it('that finishes gives what is unread, and then ends its readers and tells its writer once', async () => {
    const channel = newest();
    let ends = 0;
    channel.onEnd(() => void (ends += 1));
    channel.push([{ number: 1 }]);
    channel.finish();
    channel.push([{ number: 2 }]);
    assert.deepEqual(await channel.next(), { value: { number: 1 } });
    channel.stop();
    assert.equal((await channel.next()).done, true);
    assert.equal(ends, 1);
  });

  it('that its reader leaves drops what is unread', async () => {
    const channel = newest();
    channel.push([{ number: 1 }]);
    for await (const { number } of channel) {
      assert.equal(number, 1);
      channel.push([{ number: 2 }]);
      break;
    }
    assert.equal((await channel.next()).done, true);
  });

  it('calls its listener after the call that pushed, once for values that came together', async () => {
    const seen: number[] = [];
    const channel = new Channel<Value>(new Newest(), ({ number }) => seen.push(number));
    channel.push([{ number: 1 }]);
    channel.push([{ number: 2 }]);
    assert.deepEqual(seen, []);
    await Promise.resolve();
    assert.deepEqual(seen, [2]);
  });
});
