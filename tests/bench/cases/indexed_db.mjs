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
 * @param {import('../browser/pages.mjs').EngineName[]} engines
 * @returns {Promise<import('../measure.mjs').Result[]>}
 */
export default async function indexedDb(engines) {
  const results = [];
  for (const engine of engines) {
    /** @type {import('../measure.mjs').Result[]} */
    const measured = await withPages(engine, async (run) => {
      const cases = await firstCall(run);
      // Only Chromium supports a mirror.
      const pages = engine === 'chromium' ? [...PAGES, 'mirrored'] : PAGES;
      for (const page of pages) cases.push(...(await run(page)));
      return cases;
    });
    results.push(...measured.map((result) => ({ ...result, case: `${engine}: ${result.case}` })));
  }
  return results;
}
