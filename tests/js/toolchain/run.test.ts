// `npm test -- STEP` in a small repository: its build, its checks and its tests only write their names to a file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../../toolchain/environment.mjs';

const folder = mkdtempSync(join(tmpdir(), 'toolchain-'));
after(() => rmSync(folder, { recursive: true }));

const log = join(folder, 'log');
const writesName = (name: string) =>
  `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(log)}, '${name}\\n');\n`;

const FILES = {
  'package.json': JSON.stringify({ scripts: { 'build:js': 'node js/build/package.mjs' } }),
  'package-lock.json': JSON.stringify({ packages: {} }),
  'node_modules/.package-lock.json': JSON.stringify({ packages: {} }),
  'js/build/package.mjs': `${writesName('build')}import { writeFileSync } from 'node:fs';\nwriteFileSync('js/dist/browser.js', '');\n`,
  'js/build/pkg_hash.mjs': writesName('pkg'),
  'js/dist/browser.js': '',
  'examples/example.ts': '',
  'js/index.ts': '',
  'js/model/session.ts': '',
  'pkg/build.json': '',
  'src/conformance/cases.json': '[]',
  'tests/js/any.test.ts': `import { it } from 'node:test';\n${writesName('test')}it('runs', () => {});\n`,
  'tests/toolchain/setup/sqlite.sh': '',
  'tests/toolchain/typedoc.mjs': writesName('typedoc'),
};

const [SOURCES_CHANGED, BUILT] = [1_700_000_000, 1_700_000_001];

/** Makes the repository, with a js/dist/ that was built after the last change. */
beforeEach(() => {
  rmSync(folder, { recursive: true });
  for (const file of ['run.mjs', 'toolchain']) {
    cpSync(join(root, 'tests', file), join(folder, 'tests', file), { recursive: true });
  }
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  symlinkSync(join(root, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
  for (const file of readdirSync(folder, { encoding: 'utf8', recursive: true })) {
    if (!file.startsWith('node_modules')) touch(file, SOURCES_CHANGED);
  }
  touch('js/dist/browser.js', BUILT);
});

function touch(file: string, seconds: number): void {
  utimesSync(join(folder, file), seconds, seconds);
}

/** Runs a script of the repository, and returns the names that were written, in their order. */
function run(script: string, ...args: string[]): string[] {
  const env = { ...process.env };
  delete env.NODE_TEST_CONTEXT; // with it, a runner reports to the one above it
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
  return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
}

describe('npm test -- STEP', () => {
  it('compares pkg/ and builds an outdated js/dist/ once, before the first step', () => {
    touch('js/index.ts', BUILT + 1);
    const [first, second, ...steps] = run('tests/run.mjs', 'js', 'typedoc');
    assert.deepEqual([first, second], ['pkg', 'build']);
    assert.deepEqual(steps.sort(), ['test', 'typedoc']);
  });

  it('builds nothing if js/dist/ is current', () => {
    assert.deepEqual(run('tests/run.mjs', 'js'), ['pkg', 'test']);
  });

  it("prepares the other steps while Rust's steps run", () => {
    touch('js/index.ts', BUILT + 1);
    const cargo = join(folder, 'node_modules/.bin/cargo');
    mkdirSync(dirname(cargo), { recursive: true });
    writeFileSync(cargo, `#!/bin/sh\necho cargo >>'${log}'\n`, { mode: 0o755 });
    const waits = `import { existsSync } from 'node:fs';
for (let tries = 0; !existsSync(${JSON.stringify(log)}); tries += 1) {
  if (tries === 6000) throw new Error('Cargo does not run meanwhile');
  await new Promise((resolve) => setTimeout(resolve, 10));
}
`;
    writeFileSync(join(folder, 'js/build/package.mjs'), waits + FILES['js/build/package.mjs']);
    assert.deepEqual(run('tests/run.mjs', 'rustfmt', 'typedoc'), ['cargo', 'build', 'typedoc']);
  });

  it('builds a current js/dist/ too if the step is `build`', () => {
    assert.deepEqual(run('tests/run.mjs', 'build'), ['build']);
  });
});

describe('js/dist/ is outdated', () => {
  const isCurrent = async (): Promise<boolean> => {
    const url = pathToFileURL(join(folder, 'tests/toolchain/ready.mjs')).href;
    const { distIsCurrent } = (await import(url)) as { distIsCurrent: () => boolean };
    return distIsCurrent();
  };

  for (const file of ['js/model/session.ts', 'js/build/package.mjs', 'pkg/build.json']) {
    it(`after a change of ${file}`, async () => {
      assert.equal(await isCurrent(), true);
      touch(file, BUILT + 1);
      assert.equal(await isCurrent(), false);
    });
  }

  it('after a file is deleted', async () => {
    rmSync(join(folder, 'js/model/session.ts'));
    assert.equal(await isCurrent(), false);
  });

  it('if its build was interrupted', async () => {
    rmSync(join(folder, 'js/dist/browser.js'));
    assert.equal(await isCurrent(), false);
  });
});

describe('npm run demo and npm run playground', () => {
  it('first build an outdated js/dist/, and print that', () => {
    touch('js/index.ts', BUILT + 1);
    assert.deepEqual(run('tests/toolchain/ready.mjs'), ['build']);
    assert.deepEqual(run('tests/toolchain/ready.mjs'), ['build'], 'it is current now');
  });
});
