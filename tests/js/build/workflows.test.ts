import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const WORKFLOWS = readdirSync(join(root, '.github/workflows')).map(
  (name) => `.github/workflows/${name}`,
);

describe('The workflows', () => {
  for (const file of WORKFLOWS) {
    it(`${file} names each action of others by its hash`, () => {
      const used = [...read(file).matchAll(/uses: (?!\.\/)(.*)$/gm)].map(
        ([, action = '']) => action,
      );
      assert.ok(used.length > 0);
      assert.deepEqual(
        used.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
        [],
      );
    });

    it(`${file} may by itself only read, and ends what a newer push of a pull request replaces`, () => {
      assert.match(read(file), /^permissions:\n {2}contents: read\n\n/m);
      assert.match(read(file), /^concurrency:\n/m);
    });
  }

  it('install the compiler of rust-toolchain.toml, which made pkg/, as the container for developers does', () => {
    const { tools } = JSON.parse(read('pkg/build.json')) as { tools: { rustc: string } };
    const [, channel] = /^channel = "(.*)"$/m.exec(read('rust-toolchain.toml')) ?? [];
    assert.equal(channel, tools.rustc.split(' ')[1]);
    for (const file of [...WORKFLOWS, '.devcontainer/Dockerfile']) {
      const images = read(file).match(/\brust:[\w.-]+/g) ?? [];
      assert.ok(images.length > 0, file);
      assert.deepEqual([...new Set(images)], ['rust:bookworm'], file);
      assert.match(read(file), /^(?: +- run:|RUN) rustup toolchain install\b/m, file);
    }
  });

  it('test what .ci/run runs, and publish what a test packs', () => {
    assert.match(read('.github/workflows/test.yml'), /^ +- run: bash \.ci\/run$/m);
    const release = read('.github/workflows/release.yml');
    for (const command of ['publish:npm', 'publish:crates']) {
      assert.match(release, RegExp(`run: npm run ${command} -- --dry-run$`, 'm'));
      assert.match(release, RegExp(`run: npm run ${command}( -- --tag "\\$NPM_TAG")?$`, 'm'));
    }
  });
});
