// Chromium's own files are damaged between two starts.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startChromium } from './chromium_process.js';
import { flipBytes, newestLog, tearLog } from './leveldb_files.js';
import type { Visit } from '../page/loss/damaged.js';
import { serveSite, type Site } from '../site.js';

/** Milliseconds that a new log may take. */
const PATIENCE = 30_000;

describe('A Chromium whose files are damaged while it is closed', () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  /** Starts Chromium and kills it; what the page found in its two databases. */
  async function visit(
    profile: string,
    number: number | string,
    meanwhile?: () => Promise<void>,
  ): Promise<Visit[]> {
    const browser = startChromium(profile, `${site.origin}/damaged?visit=${number}`);
    try {
      await site.found.atLeast(2);
      await site.acknowledged.atLeast(1);
      await meanwhile?.();
      return site.found.take().map((text) => JSON.parse(text) as Visit);
    } finally {
      await browser.kill();
      site.acknowledged.take();
    }
  }

  async function inProfile(run: (profile: string) => Promise<void>): Promise<void> {
    const profile = await mkdtemp(join(tmpdir(), 'damaged-'));
    try {
      await run(profile);
    } finally {
      await rm(profile, { recursive: true, force: true });
    }
  }

  it('reports each database as lost, once', () =>
    inProfile(async (profile) => {
      assert.deepEqual(await visit(profile, 1), [{ events: [] }, { events: [] }]);
      await flipBytes(profile);
      const [one, another] = await visit(profile, 2);
      assert.match(one?.lost ?? '', /gave up the database "one" .*corrupt/);
      assert.match(another?.lost ?? '', /gave up the database "another"/);
      assert.deepEqual([one?.events, another?.events], [[], []]);
      const events = ['2:0', '2:1', '2:2'];
      assert.deepEqual(await visit(profile, 3), [{ events }, { events }]);
    }));

  it('imports a backup by onDataLoss before the first call resolves, into each database', () =>
    inProfile(async (profile) => {
      await visit(profile, 1);
      await flipBytes(profile);
      const found = await visit(profile, '2&refill');
      const backup = Array.from({ length: 600 }, (_, number) => `backup:${number}`);
      for (const { events, lost } of found) {
        assert.match(lost ?? '', /gave up the database/);
        assert.deepEqual(events, backup);
      }
      const events = [...backup, '2:0', '2:1', '2:2'];
      assert.deepEqual(await visit(profile, '3&refill'), [{ events }, { events }]);
    }));

  it('loses nothing if a kill leaves an incomplete log record: it starts a new log', () =>
    inProfile(async (profile) => {
      await visit(profile, 1);
      await tearLog(profile);
      const torn = await newestLog(profile);
      const found = await visit(profile, 2, async () => {
        const end = Date.now() + PATIENCE;
        while ((await newestLog(profile)) === torn && Date.now() < end) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        assert.notEqual(await newestLog(profile), torn);
      });
      const first = ['1:0', '1:1', '1:2'];
      assert.deepEqual(found, [{ events: first }, { events: first }]);
      const events = [...first, '2:0', '2:1', '2:2'];
      assert.deepEqual(await visit(profile, 3), [{ events }, { events }]);
    }));
});
