import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Lists the steps of `npm test`. A step whose folder is missing or has no tests fails already here. */
function listedSteps(): string[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(process.execPath, ['tests/run.mjs', '--list'], options);
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
  const run = [...read('.github/workflows/test.yml').matchAll(/npm test -- ([\w-]+)/g)];
  const named = [...described, ...run.map(([, name]) => name)];
  for (const name of ['js', 'portable']) assert.ok(named.includes(name), name);
  const unknown = named.filter((name) => !steps.has(name ?? ''));
  assert.deepEqual(unknown, []);
});
