import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from './chromium_process.js';
import type { Stored } from './page/burst.js';
import type { Site } from './site.js';
import { assertWhole } from './whole.js';

/**
 * Kills Chromium so many times in the middle of a burst. Each start finds what was acknowledged before
 * the last kill, and goes on from there.
 */
export async function killAgainAndAgain(
  site: Site,
  durability: 'strict' | 'relaxed',
  kills: number,
): Promise<void> {
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
        const { stored, error } = JSON.parse(site.found.take()[0]!) as Found;
        assert.equal(error, undefined);
        assertWhole(stored!, told);
        // Each time at another moment.
        if (run < kills) await site.acknowledged.atLeast(1 + ((run * 17) % 60));
      } finally {
        await browser.kill();
      }
      told.push(...site.acknowledged.take());
    }
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

interface Found {
  stored?: Stored;
  error?: string;
}
