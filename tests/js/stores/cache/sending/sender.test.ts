import assert from 'node:assert/strict';
import { it } from 'node:test';

import { nameOf } from '../../../../../js/stores/cache/records/cache_key.js';
import { Sender, type SenderParts } from '../../../../../js/stores/cache/sending/sender.js';
import { SessionError } from '../../../../../js/index.js';
import { KEY } from '../fixture.js';

const NAME = nameOf(KEY);

/** The parts of a sender in a tab that leads. One mutation waits, whose first request fails. */
function failOnce(tellFailure: () => void) {
  const waiting = [{ number: 1, key: KEY }];
  let tellChange: (name: string) => void;
  let attempts = 0;
  const send = (): Promise<void> => {
    attempts += 1;
    const error = new SessionError('connection_lost', 'There is no connection.');
    if (attempts === 1) return Promise.reject(error);
    waiting.pop();
    tellChange(NAME);
    return Promise.resolve();
  };
  const parts = {
    pending: {
      onChange: (listener: (name: string) => void) => void (tellChange = listener),
      names: () => waiting.map(() => NAME),
      next: () => waiting[0],
      refusalOf: () => undefined,
      blockerOf: () => undefined,
    },
    leadership: { isLeader: true, want: () => Promise.resolve() },
    board: { status: { isSending: false }, set: () => undefined },
    delivery: { send },
    report: () => undefined,
    tellFailure,
  };
  return parts as unknown as SenderParts;
}

it('a call that comes while a pause begins ends the pause, at whichever moment it comes', async () => {
  for (let moment = 0; moment < 10; moment += 1) {
    const synced = new Promise<void>((resolve, reject) => {
      const waitLater = async (): Promise<void> => {
        for (let turns = 0; turns < moment; turns += 1) await Promise.resolve();
        await sender.waitFor([NAME]);
      };
      const sender = new Sender(failOnce(() => void waitLater().then(resolve, reject)));
      sender.wake();
    });
    const late = new Promise<void>((done) => setTimeout(done, 200));
    const isSynced = await Promise.race([synced.then(() => true), late.then(() => false)]);
    assert.ok(isSynced, `the call after ${moment} turns was lost`);
  }
});
