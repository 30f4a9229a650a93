import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Browser, openBrowser } from '../../browser.js';
import { inTab, newName } from '../context.js';
import { serveSite, type Site } from '../site.js';

const COUNT = 40;
const FEW = 3;

describe('IndexedDB session services that were not closed', () => {
  let site: Site;
  let browser: Browser;
  before(async () => {
    site = await serveSite();
    browser = await openBrowser('chromium', { arguments: ['--js-flags=--expose-gc'] });
  });
  after(async () => {
    await browser.close();
    await site.close();
  });

  it('are collected when only their own onDataLoss refers to them', () =>
    inTab({ browser, site }, async (tab) => {
      const { made, left } = await tab.call('dropServices', { name: newName() }, COUNT, FEW);
      assert.equal(made.services, COUNT);
      assert.ok(made.cores >= COUNT, `each has a core: ${made.cores}`);
      assert.ok(left.services <= FEW && left.cores <= FEW, `left: ${JSON.stringify(left)}`);
    }));
});
