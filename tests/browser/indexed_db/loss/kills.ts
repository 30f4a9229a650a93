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
  const profile = await mkdtemp(join(tmpdir(), 'killed-'));
  const told: string[] = [];
  try {
    for (let run = 0; run <= kills; run += 1) {
      const browser = startChromium(
        profile,
        `${site.origin}/killed?durability=${durability}&run=run-${run}`,
      );
      try {
        await site.found.atLeast(1);
        const { stored, givenUp, error } = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(error, undefined);
        if (givenUp !== undefined) return givenUp;
        assertWhole(stored!, told);
        // Each time at another moment.
        if (run < kills) await site.acknowledged.atLeast(1 + ((run * 17) % 60));
      } finally {
        await browser.kill();
      }
      told.push(...site.acknowledged.take());
    }
    return undefined;
  } finally {
    await rm(profile, { recursive: true, force: true });
    site.acknowledged.take();
  }
}

/** Kills Chromium several times while it creates sessions with events. Each session must be whole or absent. */
export async function killCreations(site: Site, kills: number): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'killed-'));
  let told: string[] = [];
  try {
    for (let run = 0; run <= kills; run += 1) {
      const browser = startChromium(profile, `${site.origin}/killed?creates=true&run=run-${run}`);
      try {
        await site.found.atLeast(1);
        const { created = {}, givenUp, error } = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(error, undefined);
        // Chromium itself abandoned the database.
        if (givenUp !== undefined) told = [];
        assert.deepEqual(
          told.filter((id) => !Object.hasOwn(created, id)),
          [],
          'acknowledged sessions are stored',
        );
        const whole = [CREATED_EVENTS, CREATED_EVENTS - 1];
        for (const found of Object.values(created)) assert.deepEqual(found, whole);
        if (run < kills) await site.acknowledged.atLeast(1 + (run % 3));
        // Each time at another moment of the next creation.
        await new Promise((resolve) => setTimeout(resolve, 7 * run));
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

/** Kills Chromium several times while it deletes sessions. Each session must be whole or absent. */
export async function killDeletions(site: Site, kills: number): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'killed-'));
  const deleted: string[] = [];
  try {
    for (let run = 0; run <= kills; run += 1) {
      const query = new URLSearchParams({ creates: 'and deletes', run: `run-${run}` });
      const browser = startChromium(profile, `${site.origin}/killed?${query}`);
      try {
        await site.found.atLeast(1);
        const { created = {}, error } = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(error, undefined);
        assert.deepEqual(
          deleted.filter((id) => Object.hasOwn(created, id)),
          [],
          'sessions whose deletion was acknowledged are gone',
        );
        const whole = [CREATED_EVENTS, CREATED_EVENTS - 1];
        for (const found of Object.values(created)) assert.deepEqual(found, whole);
        // The sixth deletion ends the request.
        if (run < kills) await site.acknowledged.atLeast(1 + 2 * run);
        await new Promise((resolve) => setTimeout(resolve, run));
      } finally {
        await browser.kill();
      }
      deleted.push(...site.acknowledged.take());
    }
  } finally {
    await rm(profile, { recursive: true, force: true });
    site.acknowledged.take();
  }
}

/** Kills Chromium several times while it puts files. Each version must be whole or absent, and no bytes are left over. */
export async function killPuts(site: Site, kills: number): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'killed-'));
  let told: string[] = [];
  try {
    for (let run = 0; run <= kills; run += 1) {
      const browser = startChromium(profile, `${site.origin}/killed?puts=true&durability=strict`);
      try {
        await site.found.atLeast(1);
        const { puts, givenUp, error } = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(error, undefined);
        // Chromium itself abandoned a database.
        if (givenUp !== undefined) told = [];
        const { versions, torn, bytes } = puts!;
        assert.deepEqual(torn, [], 'no version lacks bytes');
        const lost = told.filter((version) => !versions.includes(version));
        assert.deepEqual(lost, [], 'acknowledged versions are stored');
        assert.equal(new Set(versions).size, versions.length, 'no number is given twice');
        assert.equal(bytes, versions.length * FILE_BYTES, 'no bytes are left over');
        if (run < kills) await site.acknowledged.atLeast(1 + ((run * 5) % 12));
        // Each time at another moment of the next put.
        await new Promise((resolve) => setTimeout(resolve, 7 * run));
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

interface Found {
  /** Of each session that was created with events. */
  created?: Record<string, [events: number, last: unknown]>;
  stored?: Stored;
  puts?: Awaited<ReturnType<typeof readPuts>>;
  /** The reason why Chromium has recreated the database. */
  givenUp?: string;
  error?: string;
}
