// The runner measures how long files of the gate take, and fails a file that takes much too long.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

import { compiledPath } from '../../toolchain/compile.mjs';
import { root } from '../../toolchain/environment.mjs';
import { isTimed, quietSeconds, slowFiles, TIMES } from '../../toolchain/file_time.mjs';
import { runStep, type Step } from '../../toolchain/steps.mjs';
import { newFolder } from '../../new_folder.js';

const line = (file: string, seconds: number, load = 0) =>
  `${JSON.stringify({ file, seconds, load })}\n`;

it('The time of a file on a busy machine counts without the time that other programs took', () => {
  const processors = cpus().length;
  assert.equal(quietSeconds({ seconds: 12, load: 0.5 * processors }), 12);
  assert.equal(quietSeconds({ seconds: 60, load: 3 * processors }), 20);
});

it('A file above 20 seconds is slow, and above 40 too slow for the gate', () => {
  const path = join(newFolder(), 'times');
  assert.deepEqual(slowFiles(path), []);
  const lines = [line('a', 20), line('b', 21), line('c', 41), line('d', 100, 5 * cpus().length)];
  writeFileSync(path, lines.join(''));
  assert.deepEqual(slowFiles(path), [
    { file: 'c', seconds: 41, isTooSlow: true },
    { file: 'b', seconds: 21, isTooSlow: false },
  ]);
});

it('A file of the rest may take longer, and so may one that opens a browser', () => {
  assert.equal(isTimed('tests/js/values/state/state.test'), true);
  assert.equal(isTimed('tests/js/values/state/state.rest.test'), false);
  assert.equal(isTimed('tests/browser/react/react.test'), false);
  assert.equal(isTimed(undefined), false);
});

it('A step with a file that is too slow has failed, and says which', async (t: TestContext) => {
  const printed: string[] = [];
  t.mock.method(console, 'log', (text: string) => void printed.push(text));
  const name = 'test-of-times';
  const times = line('tests/js/a.test.ts', 50) + line('tests/js/b.test.ts', 30);
  const program = `require('node:fs').writeFileSync(process.env.${TIMES}, ${JSON.stringify(times)}); console.log('ℹ pass 3')`;
  const command = () => ['node', '-e', program];
  const step: Step = { name, kind: 'node', command, needs: [], isTimed: true };
  const { passed, failed } = await runStep(step, process.env);
  assert.deepEqual([passed, failed], [3, 1]);
  assert.match(printed.join('\n'), /failed: tests\/js\/a\.test\.ts takes 50 s/);
  assert.match(printed.join('\n'), /slow: tests\/js\/b\.test\.ts takes 30 s/);
});

it('The process of a test file notes its time, and processes that it starts do not', () => {
  const path = join(newFolder(), 'times');
  const module = pathToFileURL(join(root, 'tests/toolchain/file_time.mjs')).href;
  const file = compiledPath('tests/js/build/version.test.ts');
  const env = { ...process.env, [TIMES]: path, NODE_TEST_CONTEXT: undefined };
  const args = [`--import=${module}`, '--test', file];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env });
  assert.equal(status, 0, String(stdout));
  if (process.platform === 'win32') return; // it tells no load
  const [noted = '', ...others] = readFileSync(path, 'utf8').trimEnd().split('\n');
  assert.deepEqual(others, []);
  const time = JSON.parse(noted) as { file: string; seconds: number; load: number };
  assert.equal(time.file, 'tests/js/build/version.test.ts');
  assert.ok(time.seconds > 0 && time.load >= 0, noted);
});
