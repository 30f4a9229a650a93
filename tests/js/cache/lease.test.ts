import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { Lease, LEASE_LOST, LEASE_MS } from '../../../js/cache/records/lease.js';
import { callerOf, Records } from '../../../js/cache/records/records.js';
import { CORE } from '../../../js/service/service_core.js';

beforeEach(() => mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 }));
afterEach(() => mock.timers.reset());

/** The leases of tabs over one local storage. */
function leases(): [Lease, Lease, Lease] {
  const local = callerOf(new InMemorySessionService()[CORE]);
  const open = (): Lease => new Lease(new Records(local, 'ada'));
  return [open(), open(), open()];
}

const lost = (error: unknown): boolean => error === LEASE_LOST;

it('a tab takes over within 5 seconds after the last sign of life', async () => {
  const [first, second] = leases();
  await first.acquire();
  mock.timers.tick(LEASE_MS - 1);
  await assert.rejects(second.acquire(), lost);
  assert.equal(second.wait, 1);
  // It looks again up to 250 ms later.
  assert.ok(LEASE_MS + 250 < 5000);
  mock.timers.tick(1);
  await second.acquire();
});

it('a sign of life keeps the lease', async () => {
  const [first, second] = leases();
  await first.acquire();
  for (let rounds = 0; rounds < 5; rounds += 1) {
    mock.timers.tick(LEASE_MS - 1);
    await first.extend();
    await assert.rejects(second.acquire(), lost);
  }
});

it('a tab that was frozen loses the lease, also if the next one has released it', async () => {
  const [frozen, second, third] = leases();
  await frozen.acquire();
  mock.timers.tick(60_000);
  await second.acquire();
  await assert.rejects(frozen.extend(), lost);
  await second.release();
  await assert.rejects(frozen.extend(), lost);
  await third.acquire();
  await frozen.release();
  await third.extend();
});

it('a tab that was frozen keeps a lease that nobody has taken', async () => {
  const [frozen, second] = leases();
  await frozen.acquire();
  mock.timers.tick(60_000);
  await frozen.extend();
  await assert.rejects(second.acquire(), lost);
});

it('a clock that was set back keeps nobody from sending', async () => {
  const [first, second] = leases();
  await first.acquire();
  mock.timers.setTime(1_600_000_000_000);
  await second.acquire();
  await assert.rejects(first.extend(), lost);
});
