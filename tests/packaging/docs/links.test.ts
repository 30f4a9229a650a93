import assert from 'node:assert/strict';
import { execSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../../toolchain/environment.mjs';
import { brokenLinks, filesBelow } from './links.js';

it('Every link of the Markdown files leads to a file and to a heading of it', () => {
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  const files = [
    ...top.map((name) => join(root, name)),
    ...['docs', 'examples'].flatMap((folder) => filesBelow(join(root, folder), /\.md$/)),
  ];
  assert.ok(files.length > 20);
  assert.deepEqual(brokenLinks(files, root), []);
});

it('Every link of a published Markdown file leads to a published file', () => {
  const pack = 'npm pack --dry-run --json --ignore-scripts';
  const printed = execSync(pack, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(printed) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => join(root, path));
  const isPublished = (path: string) =>
    paths.some((published) => `${published}/`.startsWith(`${path}/`));
  const pages = paths.filter((path) => path.endsWith('.md'));
  assert.ok(pages.length > 20);
  assert.deepEqual(brokenLinks(pages, root, isPublished), []);
});

it('A link to a missing file or heading is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'links-'));
  try {
    const file = join(folder, 'page.md');
    writeFileSync(file, '# A page\n\n[a](#a-page) [b](#b) [c](c.md) [d](page.md#a-page)\n');
    assert.deepEqual(brokenLinks([file], folder), ['page.md: #b', 'page.md: c.md']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
