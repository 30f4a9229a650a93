// The version of the packages: all files that have it agree, and a release is refused otherwise.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { disagreements, notes, obstacles, raise } from '../../../js/build/version.mjs';
import { newFolder } from '../../new_folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const EXAMPLES = ['chat_node', 'next_app', 'plain_page', 'python_and_browser'];
const FILES = [
  'package.json',
  'package-lock.json',
  'Cargo.toml',
  'src/wasm/Cargo.toml',
  'Cargo.lock',
  'CHANGELOG.md',
  ...EXAMPLES.map((name) => `examples/${name}/package.json`),
];

describe('The version', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
    for (const file of FILES) cpSync(join(root, file), join(folder, file));
    writeFileSync(join(folder, 'README.md'), '# adk-session-wasm\n');
    raise(folder, '7.8.9');
    change('CHANGELOG.md', / – .*/, ' – 2030-01-02');
  });

  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  function change(file: string, from: RegExp | string, to: string): void {
    const text = read(file);
    const changed = text.replace(from, to);
    assert.notEqual(changed, text);
    writeFileSync(join(folder, file), changed);
  }

  it('is the same in all files of the repository', () => {
    assert.deepEqual(disagreements(root), []);
  });

  it('is raised in all files, and can be released then', () => {
    assert.deepEqual(disagreements(folder), []);
    assert.deepEqual(obstacles(folder, 'v7.8.9'), []);
  });

  for (const file of FILES.filter((file) => file !== 'package.json')) {
    it(`of ${file} may not differ from that of package.json`, () => {
      change(file, '7.8.9', '7.8.8');
      const problem = `${file} has 7.8.8, but package.json 7.8.9`;
      assert.deepEqual(disagreements(folder), [problem]);
      assert.deepEqual(obstacles(folder, 'v7.8.9'), [problem]);
    });

    it(`may not be missing in ${file}`, () => {
      writeFileSync(join(folder, file), '');
      assert.deepEqual(disagreements(folder), [`${file} has no version`]);
    });
  }

  it('of package.json may not differ from the others', () => {
    change('package.json', '"version": "7.8.9"', '"version": "7.8.8"');
    assert.ok(disagreements(folder).includes('Cargo.toml has 7.8.9, but package.json 7.8.8'));
  });

  it('of a crate may not differ from that of the workspace', () => {
    for (const file of ['Cargo.toml', 'src/wasm/Cargo.toml']) {
      change(file, 'version.workspace = true', 'version = "7.8.8"');
      const problem = `${file} has 7.8.8, but package.json 7.8.9`;
      assert.deepEqual(disagreements(folder), [problem]);
      change(file, 'version = "7.8.8"', 'version.workspace = true');
    }
  });

  it('is released under no other tag', () => {
    for (const tag of ['v7.8.8', '7.8.9', '']) {
      const problem = `the tag is ${tag}, but package.json has 7.8.9`;
      assert.deepEqual(obstacles(folder, tag), [problem]);
    }
  });

  it('is not released before the changelog has its date', () => {
    change('CHANGELOG.md', '2030-01-02', 'Unreleased');
    const problem = 'the first heading of CHANGELOG.md has no date: ## 7.8.9 – Unreleased';
    assert.deepEqual(obstacles(folder, 'v7.8.9'), [problem]);
  });

  it('is not released while README.md says that it is not on npm yet', () => {
    writeFileSync(join(folder, 'README.md'), '**7.8.9 is not on npm yet.**\n');
    const problem = 'README.md says that the package is not on npm yet';
    assert.deepEqual(obstacles(folder, 'v7.8.9'), [problem]);
  });

  it('has the newest section of the changelog as its notes', () => {
    const written = '# Changelog\n\n## 2.0.0 – 2030-01-02\n\n### New\n\n- Two.\n\n## 1.0.0 – 2029-01-02\n\n- One.\n'; // prettier-ignore
    writeFileSync(join(folder, 'CHANGELOG.md'), written);
    assert.equal(notes(folder), '### New\n\n- Two.');
  });

  it('after a released one has a section above it', () => {
    raise(folder, '7.9.0-rc.1');
    const headings = read('CHANGELOG.md').match(/^## .*$/gm);
    assert.deepEqual(headings?.slice(0, 2), [
      '## 7.9.0-rc.1 – Unreleased',
      '## 7.8.9 – 2030-01-02',
    ]);
    assert.deepEqual(disagreements(folder), []);
  });

  it('that is raised again before its release keeps its section', () => {
    raise(folder, '7.9.0-rc.1');
    raise(folder, '7.9.0');
    const headings = read('CHANGELOG.md').match(/^## .*$/gm);
    assert.deepEqual(headings?.slice(0, 2), ['## 7.9.0 – Unreleased', '## 7.8.9 – 2030-01-02']);
  });
});
