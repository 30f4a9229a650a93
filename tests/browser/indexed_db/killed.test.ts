import { after, before, describe, it } from 'node:test';
import { killAgainAndAgain, killWithMirror } from './kills.js';
import { serveSite, type Site } from './site.js';

describe('A Chromium that is killed in the middle of a burst', () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  it('has lost nothing that was acknowledged as strict, ten times over', () =>
    killAgainAndAgain(site, 'strict', 10));

  it('has lost nothing that was acknowledged as relaxed, three times over', () =>
    killAgainAndAgain(site, 'relaxed', 3));

  it('has lost nothing with a mirror, four times over, although its files are damaged twice', () =>
    killWithMirror(site, 'relaxed', 4, Date.now()));
});
