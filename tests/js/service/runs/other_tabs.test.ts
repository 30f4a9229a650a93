import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import { TabLock } from '../../../../js/core/watch/tab_lock.js';
import type { Report } from '../../../../js/service/runs/agent/run_status.js';
import { OtherTabs } from '../../../../js/service/runs/other_tabs.js';

it('a report of a run is copied for those that follow its session, and for no others', async () => {
  let copies = 0;
  const report: Report = {
    messageId: 'm1',
    invocationId: 'i1',
    status: 'running',
    wholes: [],
    get drafts() {
      return [
        {
          get event() {
            copies += 1;
            return createEvent({ id: 'e1', author: 'guide' });
          },
        },
      ];
    },
  };
  const told: string[] = [];
  const open = (session: string, name: string): OtherTabs =>
    new OtherTabs(session, 'copies of reports', new TabLock(undefined), {
      told: (report) => void told.push(`${name}: ${report?.messageId}`),
      stop: () => undefined,
      tellNow: () => undefined,
    });
  const running = open('s1', 'running');
  const followers = [open('s1', 'same'), open('s2', 'other'), open('s3', 'third')];
  const stops = followers.map((each) => each.follow());
  running.tell(report);
  await new Promise(setImmediate);
  for (const stop of stops) stop();
  assert.deepEqual(told, ['same: m1']);
  assert.equal(copies, 1);
});

/** A lock that other tabs share, and that is asked for until the test answers. */
class AskedLock extends TabLock {
  answer: (isHeld: boolean) => void = () => undefined;

  override get isShared(): boolean {
    return true;
  }

  override isHeld(): Promise<boolean> {
    return new Promise((resolve) => (this.answer = resolve));
  }

  override onRelease(): void {
    // Nobody releases it.
  }
}

it('a run that is told while the lock is asked for goes on', async () => {
  const channel = 'runs told while a lock is asked for';
  const told: (string | undefined)[] = [];
  const requests = { told: () => undefined, stop: () => undefined, tellNow: () => undefined };
  const lock = new AskedLock(channel);
  const other = new OtherTabs('s1', channel, new TabLock(undefined), requests);
  const following = new OtherTabs('s1', channel, lock, {
    ...requests,
    told: (report) => void told.push(report?.messageId),
  });
  const stops = [other.follow(), following.follow()];
  other.tell({ messageId: 'm1', invocationId: 'i1', status: 'running', drafts: [], wholes: [] });
  while (told.length === 0) await new Promise(setImmediate);
  lock.answer(false);
  await new Promise(setImmediate);
  for (const stop of stops) stop();
  assert.deepEqual(told, ['m1']);
});
