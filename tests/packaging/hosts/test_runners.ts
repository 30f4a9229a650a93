// Test runners with jsdom, which has neither TextDecoder nor TextEncoder.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { OUTCOME, program } from '../consumer.js';
import { type Host, projectWith } from './host.js';

/** A test as users write it. */
function testOf(main: string): string {
  return `${main}
test('a conversation', async () => {
  expect(typeof document).toBe('object');
  expect(await run()).toEqual(${JSON.stringify(OUTCOME)});
});
`;
}

const esm = testOf(program());
const commonjs = testOf(
  program().replace(/import (.*) from (.*);/, (_, names: string, from: string) => {
    return `const ${names} = require(${from});`;
  }),
);

const JEST = { jest: '30.5.2', 'jest-environment-jsdom': '30.5.2' };
const VITEST = { vitest: '5.1.1', jsdom: '31.0.1' };

async function jest(name: string, file: string, test: string, env: NodeJS.ProcessEnv) {
  const project = projectWith('jest', JEST);
  const folder = project.write(name, {
    'package.json': JSON.stringify({ private: true, jest: { testEnvironment: 'jsdom' } }),
    [file]: test,
  });
  const bin = join(project.folder, 'node_modules/jest/bin/jest.js');
  await project.run(folder, [bin, '--ci', '--no-cache'], env);
  return undefined;
}

export const TEST_RUNNERS: readonly Host[] = [
  {
    name: 'Jest, jsdom, CommonJS',
    check: () => jest('commonjs', 'chat.test.js', commonjs, {}),
  },
  {
    name: 'Jest, jsdom, ESM',
    check: () =>
      jest('esm', 'chat.test.mjs', esm, {
        // The first option is Jest's for ESM. The second silences Node, which warns of the first.
        NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
      }),
  },
  {
    name: 'Vitest, jsdom',
    isSlow: true,
    async check() {
      const project = projectWith('vitest', VITEST);
      const imports = "import { expect, test } from 'vitest';\n";
      const folder = project.write('esm', {
        'package.json': JSON.stringify({ private: true, type: 'module' }),
        'chat.test.js': imports + esm,
      });
      const bin = join(project.folder, 'node_modules/vitest/vitest.mjs');
      const printed = await project.run(folder, [bin, 'run', '--environment', 'jsdom']);
      assert.match(printed, /1 passed/);
      return undefined;
    },
  },
];
