// Runs Python with google-adk, as tests/toolchain/python.sh has installed it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const python = process.env.ADK_PYTHON ?? join(root, 'target', 'python', 'bin', 'python');

/**
 * What a program of tests/interop/python prints, parsed line by line.
 *
 * @param lines its input, one JSON value a line
 */
export function linesOfPython(
  program: string,
  { args = [], lines = [] }: { args?: readonly string[]; lines?: readonly unknown[] } = {},
): unknown[] {
  const file = join(root, 'tests', 'interop', 'python', program);
  const { status, stdout, stderr, error } = spawnSync(python, [file, ...args], {
    input: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: 120_000,
  });
  assert.equal(error, undefined);
  assert.equal(status, 0, stderr);
  const printed = stdout.split('\n').filter((line) => line !== '');
  return printed.map((line): unknown => JSON.parse(line));
}
