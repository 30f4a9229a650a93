// Tests with kills that take too long for every run: `npm run soak`. SOAK_ROUNDS=2 runs fewer rounds.

import { after, before, describe, it } from 'node:test';
import { killAgainAndAgain, killWithMirror, newTally } from '../browser/indexed_db/loss/kills.js';
import { serveSite, type Site } from '../browser/indexed_db/site.js';

/** The number of kills per database: a database grows with each round of appends. */
const KILLS = 10;
const CHOSEN = process.env.SOAK_ROUNDS;
const ROUNDS = Number(CHOSEN ?? 20);

describe(`A Chromium that is killed during strict appends, ${ROUNDS * KILLS} times`, () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`loses no acknowledged event: round ${round}`, () =>
      killAgainAndAgain(site, 'strict', KILLS));
  }
});

/** After 6 of every 10 kills, the test damages the database's files or truncates its log. */
const MIRRORED_ROUNDS = Number(CHOSEN ?? 100);

describe(`A Chromium with a mirror that is killed during appends, ${MIRRORED_ROUNDS * KILLS} times`, () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  const tally = newTally();
  after(() => console.log(`# ${JSON.stringify(tally)}`));
  for (let round = 1; round <= MIRRORED_ROUNDS; round += 1) {
    const durability = round % 2 === 0 ? 'strict' : 'relaxed';
    it(`loses no acknowledged event: ${durability}, round ${round}`, () => {
      return killWithMirror(site, durability, KILLS, Date.now(), tally);
    });
  }
});
