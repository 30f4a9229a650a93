// Tests with kills that take too long for every run: `npm run soak`. SOAK_ROUNDS=2 runs fewer rounds.

import { after, before, describe, it } from 'node:test';
import { killAgainAndAgain } from '../browser/indexed_db/loss/kills.js';
import { serveSite, type Site } from '../browser/indexed_db/site.js';

/** The number of kills per database: a database grows with each round of appends. */
const KILLS = 10;
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 20);

describe(`A Chromium that is killed during strict appends, ${ROUNDS * KILLS} times`, () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`loses no acknowledged event: round ${round}`, () =>
      killAgainAndAgain(site, 'strict', KILLS));
  }
});
