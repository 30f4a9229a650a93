// What a release sends, without sending it: the commands of package.json that .github/workflows/release.yml runs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { environmentWithout, OF_NPM, root, run } from './installed.js';

/** Runs a command of package.json with `--dry-run`. */
function dryRun(folder: string, command: string, ...options: string[]) {
  const target = join(root, 'target', 'packaging', 'crates');
  const env = { ...environmentWithout(OF_NPM), CARGO_TARGET_DIR: target };
  const args = ['run', command, '--', '--dry-run', ...options];
  return spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8' });
}

describe('A release', { timeout: 600_000 }, () => {
  let copy: string;
  before(() => {
    copy = mkdtempSync(join(tmpdir(), 'adk-session-wasm-release-'));
    const files = run(
      'git',
      ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
      root,
    );
    for (const file of files.split('\0')) {
      if (file !== '' && !file.startsWith('tests/')) cpSync(join(root, file), join(copy, file));
    }
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  function change(file: string, from: string, to: string): void {
    const text = readFileSync(join(copy, file), 'utf8');
    assert.ok(text.includes(from));
    writeFileSync(join(copy, file), text.replace(from, to));
  }

  it('packs the npm package', () => {
    const { status, stdout, stderr } = dryRun(root, 'publish:npm', '--tag', 'next');
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\+ adk-session-wasm@\d/m);
    assert.match(stderr, /with tag next and public access \(dry-run\)/);
  });

  it('packs and builds the crates, the library first; Cargo warns only of tests that are not packed', () => {
    const { status, stderr } = dryRun(root, 'publish:crates', '--allow-dirty');
    assert.equal(status, 0, stderr);
    const steps = [...stderr.matchAll(/^ *(Verifying|Uploading) (\S+)/gm)].map(([, step, crate]) => `${step} ${crate}`); // prettier-ignore
    const crates = ['adk-session-core', 'adk-session-wasm'];
    assert.deepEqual(
      steps,
      ['Verifying', 'Uploading'].flatMap((step) => crates.map((crate) => `${step} ${crate}`)),
    );
    const warnings = stderr.split('\n').filter((line) => line.startsWith('warning'));
    const expected = /^warning: (ignoring test `\w+` as |aborting upload due to dry run)/;
    assert.deepEqual(
      warnings.filter((line) => !expected.test(line)),
      [],
    );
  });

  it('of the npm package is refused if npm refuses its version', () => {
    change('package.json', '"version": "', '"version": "1.');
    const { status, stderr } = dryRun(copy, 'publish:npm', '--ignore-scripts');
    assert.notEqual(status, 0);
    assert.match(stderr, /Invalid version: "1\.\d/);
  });

  it('of the crates is refused if the library lacks a file', () => {
    change('Cargo.toml', '"/conformance", ', '');
    const { status, stderr } = dryRun(
      copy,
      'publish:crates',
      '--allow-dirty',
      '--features',
      'testing',
    );
    assert.notEqual(status, 0);
    assert.match(stderr, /couldn't read `src\/\.\.\/conformance\/rust\/mod\.rs`/);
  });

  it('of the library pins no version of a crate, and the wasm crate pins the library', () => {
    const { packages } = JSON.parse(
      run('cargo', ['metadata', '--no-deps', '--format-version', '1'], root),
    ) as { packages: { name: string; dependencies: { name: string; req: string }[] }[] };
    const pinnedBy = (crate: string) => {
      const found = packages.find(({ name }) => name === crate);
      const pinned = found?.dependencies.filter(({ req }) => req.startsWith('='));
      return [...new Set(pinned?.map(({ name }) => name))].sort();
    };
    assert.deepEqual(pinnedBy('adk-session-core'), []);
    assert.deepEqual(pinnedBy('adk-session-wasm'), ['adk-session-core', 'wasm-bindgen']);
    const tree = run('cargo', ['tree', '--target', 'all', '--package', 'adk-session-core'], root);
    assert.ok(!tree.includes('adk-session-wasm'));
  });
});
