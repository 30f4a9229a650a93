import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { entries } from '../../../js/build/entries.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

function run(...args: string[]) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }; // a runner of its own
  const options = { cwd: root, encoding: 'utf8', env } as const;
  return spawnSync(process.execPath, ['tests/run.mjs', ...args], options);
}

/** Lists the steps of `npm test`. A step whose folder is missing or has no tests fails already here. */
function listedSteps(): string[] {
  const { stdout, stderr } = run('--list');
  assert.equal(stderr, '');
  return stdout.trim().split('\n');
}

it('Each step of `npm test` finds its tests', () => {
  assert.ok(listedSteps().includes('portable'));
});

it('The steps that CONTRIBUTING.md and the workflows name are steps of `npm test`', () => {
  const steps = new Set(listedSteps());
  const [section = ''] = /^## The steps$[^]*?^## /m.exec(read('CONTRIBUTING.md')) ?? [];
  const described = [...section.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, names = '']) =>
    names.match(/[\w-]+/g),
  );
  const lanes = [...read('.github/workflows/test.yml').matchAll(/steps: ([^}]+) \}$/gm)];
  const named = [...described, ...lanes.flatMap(([, names = '']) => names.split(' '))];
  for (const name of ['js', 'portable']) assert.ok(named.includes(name), name);
  const unknown = named.filter((name) => !steps.has(name ?? ''));
  assert.deepEqual(unknown, []);
});

it('A mistyped name is refused before anything is set up', () => {
  for (const name of ['jss', 'tests/js/values/nosuch.test.ts', 'tests/js/nosuch', 'js/index.ts']) {
    const { status, stdout, stderr } = run('js', name);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, RegExp(`no test file at: ${name};`));
  }
});

it('Compiling again leaves what another run loads, and deletes a file whose source is gone', () => {
  const compiled = join(root, 'target/compiled');
  const [loaded, gone] = [join(compiled, 'js/index.js'), join(compiled, 'js/gone.test.js')];
  const before = statSync(loaded);
  writeFileSync(gone, '');
  const { status } = spawnSync(process.execPath, ['tests/toolchain/compile.mjs'], { cwd: root });
  assert.equal(status, 0);
  assert.deepEqual([statSync(loaded).ino, existsSync(gone)], [before.ino, false]);
});

it('A test runs by its file, and by a pattern of its name', () => {
  const { status, stdout } = run('-t', 'removed', 'tests/js/values/state/keys.test.ts');
  assert.deepEqual(
    [status, stdout.trim().split('\n').at(-1)],
    [0, '1 passed, 0 failed, 0 skipped'],
  );
});

it('The types of each entry are read from its source, so that a change of a public type needs no build', () => {
  const { compilerOptions } = JSON.parse(read('tests/tsconfig.sources.json')) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  const { imports } = JSON.parse(read('package.json')) as {
    imports: Record<string, { types: string }>;
  };
  const ofImports = Object.entries(imports)
    .filter(([, { types }]) => types.startsWith('./js/dist/'))
    .map(([name, { types }]) => [
      name,
      [types.replace('./js/dist/', '../js/').replace('.d.ts', '.ts')],
    ]);
  const ofEntries = entries().map(({ name, source }) => [name, [`../${source}`]]);
  assert.deepEqual(compilerOptions.paths, Object.fromEntries([...ofEntries, ...ofImports]));
});
