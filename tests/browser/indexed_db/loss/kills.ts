import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from './chromium_process.js';
import { assertWhole, type Stored } from './bursts.js';
import { CREATED_EVENTS } from '../page/loss/creations.js';
import { FILE_BYTES, type readPuts } from '../page/loss/puts.js';
import type { Site } from '../site.js';

/** How often Chromium itself may abandon a database before the test fails. */
const MAX_GIVEN_UP = 1;

/**
 * Kills Chromium several times during appends. Each start must find the events that were acknowledged before
 * the last kill, and continues from there.
 *
 * A kill may leave half a record at the end of Chromium's log. The package makes Chromium (156) begin a new log
 * when it opens the database. After a second kill before the new log, Chromium abandons the database. The test then
 * starts again with a new profile.
 */
export async function killAgainAndAgain(
  site: Site,
  durability: 'strict' | 'relaxed',
  kills: number,
): Promise<void> {
  const givenUp: string[] = [];
  for (;;) {
    const reason = await killOneProfile(site, durability, kills);
    if (reason === undefined) return;
    givenUp.push(reason);
    assert.ok(givenUp.length <= MAX_GIVEN_UP, `Chromium gave up: ${givenUp.join(', ')}`);
    console.log(`# Chromium abandoned its database: ${reason}; starting again`);
  }
}

/** @returns why Chromium has given the database up, if it has */
async function killOneProfile(
  site: Site,
  durability: 'strict' | 'relaxed',
  kills: number,
): Promise<string | undefined> {
  let reason: string | undefined;
  await killRuns(site, kills, {
    query: (run) => ({ durability, run: `run-${run}` }),
    check: ({ stored, givenUp }, told) => {
      reason = givenUp;
      if (reason === undefined) assertWhole(stored!, told);
      return reason === undefined;
    },
    acknowledged: (run) => 1 + ((run * 17) % 60),
  });
  return reason;
}

/** Kills Chromium several times while it creates sessions with events. Each session must be whole or absent. */
export function killCreations(site: Site, kills: number): Promise<void> {
  return killRuns(site, kills, {
    query: (run) => ({ creates: 'true', run: `run-${run}` }),
    check: ({ created = {}, givenUp }, told) => {
      // Chromium itself abandoned the database.
      if (givenUp !== undefined) told.length = 0;
      const lost = told.filter((id) => !Object.hasOwn(created, id));
      assert.deepEqual(lost, [], 'acknowledged sessions are stored');
      assertWholeCreations(created);
    },
    acknowledged: (run) => 1 + (run % 3),
    waitMs: (run) => 7 * run,
  });
}

/** Kills Chromium several times while it deletes sessions. Each session must be whole or absent. */
export function killDeletions(site: Site, kills: number): Promise<void> {
  return killRuns(site, kills, {
    query: (run) => ({ creates: 'and deletes', run: `run-${run}` }),
    check: ({ created = {} }, deleted) => {
      const kept = deleted.filter((id) => Object.hasOwn(created, id));
      assert.deepEqual(kept, [], 'sessions whose deletion was acknowledged are gone');
      assertWholeCreations(created);
    },
    // The sixth deletion ends the request.
    acknowledged: (run) => 1 + 2 * run,
    waitMs: (run) => run,
  });
}

/** Kills Chromium several times while it puts files. Each version must be whole or absent, and no bytes are left over. */
export function killPuts(site: Site, kills: number): Promise<void> {
  return killRuns(site, kills, {
    query: () => ({ puts: 'true', durability: 'strict' }),
    check: ({ puts, givenUp }, told) => {
      // Chromium itself abandoned a database.
      if (givenUp !== undefined) told.length = 0;
      const { versions, torn, bytes } = puts!;
      assert.deepEqual(torn, [], 'no version lacks bytes');
      const lost = told.filter((version) => !versions.includes(version));
      assert.deepEqual(lost, [], 'acknowledged versions are stored');
      assert.equal(new Set(versions).size, versions.length, 'no number is given twice');
      assert.equal(bytes, versions.length * FILE_BYTES, 'no bytes are left over');
    },
    acknowledged: (run) => 1 + ((run * 5) % 12),
    waitMs: (run) => 7 * run,
  });
}

/** What a page does while it is killed, and what the next one must find. */
interface Killing {
  /** The options of the page. */
  readonly query: (run: number) => Record<string, string>;
  /** Checks what a start has found. `told`: what was acknowledged before. Returns `false` to end. */
  readonly check: (found: Found, told: string[]) => boolean | void;
  /** The number of acknowledgements before the kill: each time at another moment. */
  readonly acknowledged: (run: number) => number;
  /** Milliseconds after them, to be in the middle of the next step. Default 0. */
  readonly waitMs?: (run: number) => number;
}

/** Starts Chromium over one profile, and kills it, again and again. */
async function killRuns(site: Site, kills: number, killing: Killing): Promise<void> {
  const { query, check, acknowledged, waitMs = () => 0 } = killing;
  const profile = await mkdtemp(join(tmpdir(), 'killed-'));
  const told: string[] = [];
  try {
    for (let run = 0; run <= kills; run += 1) {
      const search = new URLSearchParams(query(run));
      const browser = startChromium(profile, `${site.origin}/killed?${search}`);
      try {
        await site.found.atLeast(1);
        const found = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(found.error, undefined);
        if (check(found, told) === false) return;
        if (run < kills) await site.acknowledged.atLeast(acknowledged(run));
        await new Promise((resolve) => setTimeout(resolve, waitMs(run)));
      } finally {
        await browser.kill();
      }
      told.push(...site.acknowledged.take());
    }
  } finally {
    await rm(profile, { recursive: true, force: true });
    site.acknowledged.take();
  }
}

function assertWholeCreations(created: NonNullable<Found['created']>): void {
  const whole = [CREATED_EVENTS, CREATED_EVENTS - 1];
  for (const found of Object.values(created)) assert.deepEqual(found, whole);
}

interface Found {
  /** Of each session that was created with events. */
  created?: Record<string, [events: number, last: unknown]>;
  stored?: Stored;
  puts?: Awaited<ReturnType<typeof readPuts>>;
  /** The reason why Chromium has recreated the database. */
  givenUp?: string;
  error?: string;
}
