// IndexedDB in real browsers, compared with hand-written code.

import { withPages } from '../browser/pages.mjs';
import { limited, median, shown, timesInTurns } from '../measure.mjs';

const PAGES = [
  'one-by-one',
  'to-one-session',
  'to-many-sessions',
  'to-long-session',
  'long-session',
  'newest-sessions',
  'late-page',
];

/**
 * @param {(page: string) => Promise<any>} run
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
async function firstCall(run) {
  /** @type {Record<string, number[]>} */
  const loads = { bare: [], ours: [] };
  /** @param {'bare' | 'ours'} side */
  const open = (side) => async (/** @type {number} */ round) => {
    const { call, load } = await run(`first-${side}`);
    if (round >= 0) loads[side].push(load);
    return call;
  };
  const sides = { bare: open('bare'), ours: open('ours') };
  const times = await timesInTurns(sides, { rounds: 9, warmUp: 1 });
  const [ours, bare] = [median(times.ours), median(times.bare)];
  const name = 'first call on a cold page';
  const unit = 'ms';
  return [
    limited({ case: `${name}, beyond the bare`, ours: ours - bare, unit, most: 25 }),
    shown({ case: name, ours, peer: bare, unit }),
    shown({
      case: 'loading the script before it',
      ours: median(loads.ours),
      peer: median(loads.bare),
      unit,
    }),
  ];
}

/**
 * The first read of a later visit: with the wasm as text inside the JavaScript, and in a file of its own.
 *
 * @param {(page: string) => Promise<any>} run
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
async function firstRead(run) {
  await run('first-later');
  const sides = { inline: () => run('read-inline'), streaming: () => run('read-streaming') };
  const times = await timesInTurns(sides, { rounds: 9, warmUp: 2 });
  const [ours, peer] = [median(times.inline), median(times.streaming)];
  return [shown({ case: 'first read, wasm inline : in its own file', ours, peer, unit: 'ms' })];
}

/**
 * A slow device. Only Chromium can slow its processor down.
 *
 * @param {(page: string) => Promise<any>} run
 * @param {import('../../tests/browser/browser.js').Browser} browser
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
async function laterVisit(run, browser) {
  const slowDown = (/** @type {number} */ rate) =>
    browser.debug('Emulation.setCPUThrottlingRate', { rate });
  await slowDown(4);
  try {
    const later = () => run('first-later');
    const times = await timesInTurns({ ours: later }, { rounds: 9, warmUp: 2 });
    const name = 'first call of a later visit, processor 4 times slower';
    return [limited({ case: name, ours: median(times.ours), unit: 'ms', most: 150 })];
  } finally {
    await slowDown(1);
  }
}

/**
 * @param {import('../browser/pages.mjs').BrowserName[]} browserNames
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function indexedDb(browserNames) {
  const results = [];
  for (const browserName of browserNames) {
    /** @type {import('../measure.mjs').Result[]} */
    const measured = await withPages(browserName, async (run, browser) => {
      const cases = [...(await firstCall(run)), ...(await firstRead(run))];
      if (browserName === 'chromium') cases.push(...(await laterVisit(run, browser)));
      for (const page of PAGES) cases.push(...(await run(page)));
      return cases;
    });
    results.push(
      ...measured.map((result) => ({ ...result, case: `${browserName}: ${result.case}` })),
    );
  }
  return results;
}
