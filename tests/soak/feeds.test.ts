// A server's feeds and writers for longer than a test of every run may take: `npm run soak`.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { DatabaseSessionService } from '../../js/service/database/index.js';
import { feedsAndWriters } from '../js/server/feed/feeds_and_writers.js';
import { newFolder } from '../new_folder.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MINUTE_MS = 60_000;

it('200 feeds and 50 writers for a minute lose no change, and the memory in use stays', async () => {
  const folder = newFolder();
  const service = new DatabaseSessionService(`sqlite:${join(folder, 'shop.db')}`);
  const end = Date.now() + MINUTE_MS;
  const used: number[] = [];
  const timer = setInterval(() => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    used.push((heapUsed + external) / 2 ** 20);
  }, 1000);
  await feedsAndWriters(service, () => Date.now() >= end);
  clearInterval(timer);
  await service.close();
  const third = Math.floor(used.length / 3);
  // The first third is the start, with the compiler at work.
  const [middle, last] = [used.slice(third, 2 * third), used.slice(2 * third)].map((some) =>
    Math.min(...some),
  );
  console.log(`# MB in use: ${used.map((one) => one.toFixed(1)).join(' ')}`);
  assert.ok(last! < middle! * 1.1, `${middle} MB, then ${last} MB`);
});
