// What a page of the playground loads.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { builtPlayground } from './build.js';

const gzipped = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length / 1024;

/** Loaded only if the user chooses the framework. */
const isFramework = (file: string): boolean => /assets[\\/]framework-/.test(file);

it('all files of the playground but the framework have at most 321 KB', async (t) => {
  const folder = await builtPlayground();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const sizeOf = (some: string[]): number => some.map(gzipped).reduce((sum, size) => sum + size, 0);
  const framework = files.filter(isFramework);
  assert.equal(framework.length, 1);
  const size = sizeOf(files.filter((file) => !isFramework(file)));
  t.diagnostic(`${size.toFixed(1)} KB; the framework ${sizeOf(framework).toFixed(1)} KB`);
  assert.ok(size <= 321, `${size} KB`);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  assert.doesNotMatch(page, /framework-/, 'the page does not load the framework by itself');
});

it('the page has a title, a description and a language', async () => {
  const page = readFileSync(join(await builtPlayground(), 'index.html'), 'utf8');
  for (const part of [
    /<title>.+<\/title>/,
    /<meta name="description" content=".+"/,
    /<html lang=/,
  ]) {
    assert.match(page, part);
  }
});
