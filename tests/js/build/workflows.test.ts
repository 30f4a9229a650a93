import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const WORKFLOWS = readdirSync(join(root, '.github/workflows')).map(
  (name) => `.github/workflows/${name}`,
);

/** Of a day in 2026. rust-toolchain.toml names the compiler, so only the system packages of the image count. */
const RUST_IMAGE =
  'rust:bookworm@sha256:82150a52ec202c1b14d7817e14516c392bb7f5cfebd88f1ed531cb37ebd39922';

describe('The workflows', () => {
  for (const file of WORKFLOWS) {
    it(`${file} names each action of others by its hash`, () => {
      const used = [...read(file).matchAll(/uses: (?!\.\/)(.*)$/gm)].map(
        ([, action = '']) => action,
      );
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
      const images = read(file).match(/\brust:\S+/g) ?? [];
      assert.ok(
        images.every((image) => image === RUST_IMAGE),
        file,
      );
      const installed = read(file).match(/^(?: +- run:|RUN) rustup toolchain install\b/gm) ?? [];
      assert.equal(installed.length, images.length, file);
    }
  });

  it('run each step of the gate for each change', () => {
    const options = { cwd: root, encoding: 'utf8' } as const;
    const { stdout } = spawnSync(process.execPath, ['tests/run.mjs', '--list'], options);
    const [gate = ''] = stdout.split('portable');
    const lanes = [...read('.github/workflows/test.yml').matchAll(/steps: ([^}]+) \}$/gm)];
    const run = new Set(lanes.flatMap(([, steps = '']) => steps.split(' ')));
    const steps = gate.trim().split('\n');
    assert.ok(steps.length > 10);
    assert.deepEqual(
      steps.filter((step) => !run.has(step)),
      [],
    );
  });

  it('end in one job that a repository can require, also for a change that starts no lane', () => {
    const test = read('.github/workflows/test.yml');
    assert.doesNotMatch(test, /^ +paths(-ignore)?:/m);
    assert.match(test, /^ {2}passed:\n {4}if: always\(\)\n {4}needs: \[changes, node, tools\]\n/m);
  });

  it('cache the files of Cargo for each lane by itself', () => {
    assert.match(
      read('.github/workflows/test.yml'),
      /Swatinem\/rust-cache@.*\n +with:\n +key: \$\{\{ matrix\.steps \}\}\n/,
    );
  });

  it('open an issue for a night that failed, in the one job that may', () => {
    const night = read('.github/workflows/night.yml');
    assert.match(night, /^ {2}all:\n {4}uses: \.\/\.github\/workflows\/all\.yml$/m);
    assert.equal(night.match(/issues: write/g)?.length, 1);
    assert.match(night, /^ {2}report:\n {4}if: failure\(\)\n {4}needs: all\n/m);
  });

  it('run all before a release, and publish what a test packs, then the site', () => {
    assert.match(read('.github/workflows/all.yml'), /^ +- run: bash \.ci\/run$/m);
    const release = read('.github/workflows/release.yml');
    assert.match(release, /^ +uses: \.\/\.github\/workflows\/all\.yml$/m);
    assert.match(release, /^ +run: git merge-base --is-ancestor HEAD origin\/main$/m);
    for (const [job, needs] of Object.entries({
      test: 'version',
      npm: '[test, pkg]',
      crates: '[test, pkg]',
      site: '[npm, crates]',
    })) {
      const [text = ''] = RegExp(`^  ${job}:\\n(?:    .*\\n|\\n)*`, 'm').exec(release) ?? [];
      assert.ok(text.includes(`\n    needs: ${needs}\n`), job);
    }
    for (const command of ['publish:npm', 'publish:crates']) {
      assert.match(release, RegExp(`run: npm run ${command} -- --dry-run$`, 'm'));
      assert.match(release, RegExp(`run: npm run ${command}( -- --tag "\\$NPM_TAG")?$`, 'm'));
    }
  });
});
