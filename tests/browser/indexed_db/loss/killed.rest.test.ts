import { after, before, describe, it } from 'node:test';
import { killAgainAndAgain, killCreations, killDeletions, killPuts } from './kills.js';
import { serveSite, type Site } from '../site.js';

describe('A Chromium that is killed during many appends', () => {
  let site: Site;
  before(async () => (site = await serveSite()));
  after(() => site.close());

  it('loses no event acknowledged as strict, ten times', () =>
    killAgainAndAgain(site, 'strict', 10));

  it('loses no event acknowledged as relaxed, three times', () =>
    killAgainAndAgain(site, 'relaxed', 3));

  it('has each session that it created with events whole or not at all, six times', () =>
    killCreations(site, 6));

  it('has each session that it deleted whole or not at all, six times', () =>
    killDeletions(site, 6));

  it('has each file that it put whole or not at all, six times', () => killPuts(site, 6));
});
