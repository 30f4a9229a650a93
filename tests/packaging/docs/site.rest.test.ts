// The site that `npm run docs` builds. A problem of a doc comment fails its build.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { visitFirstScreen } from './first_screen.js';
import { brokenSiteLinks, filesBelow } from './links.js';

const site = join(root, 'target', 'site');

describe('The site', () => {
  let pages: string[];
  before(() => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', 'docs'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    pages = filesBelow(site, /\.html$/);
  });

  it('has a page for each file of docs/, and both references', () => {
    const sources = filesBelow(join(root, 'docs'), /\.md$/);
    const expected = sources.map((file) =>
      file.replace(join(root, 'docs'), site).replace(/\.md$/, '.html'),
    );
    const references = ['typescript/index.html', 'rust/adk_session/index.html'];
    const all = [...expected, ...references.map((file) => join(site, 'reference', file))];
    assert.deepEqual(
      all.filter((file) => !existsSync(file)),
      [],
    );
  });

  it('has an icon, a picture, and the playground, to which its first page leads', () => {
    const first = readFileSync(join(site, 'index.html'), 'utf8');
    for (const file of ['icon.svg', 'playground.png', 'playground/index.html']) {
      assert.ok(existsSync(join(site, file)), file);
      assert.ok(first.includes(file.replace('index.html', '"')), file);
    }
  });

  it('has no broken link', () => {
    const isOfRust = (file: string): boolean => file.includes(join('reference', 'rust'));
    const checked = pages.filter((file) => !isOfRust(file)); // rustdoc checks its own links
    assert.ok(checked.length > 100);
    assert.deepEqual(brokenSiteLinks(site, checked), []);
  });

  it('runs the example of its first screen in the page, and shows the conversation after a reload', () =>
    visitFirstScreen(site));

  it('searches without a server: each page is in the index that the site itself has', () => {
    const [index] = filesBelow(join(site, 'assets'), /localSearchIndex.*\.js$/);
    const text = readFileSync(index!, 'utf8');
    assert.match(text, /errors(\.html)?#/);
  });
});
