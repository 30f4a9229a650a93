// Test runners with jsdom, which has neither TextDecoder nor TextEncoder.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { OUTCOME, program } from '../consumer.js';
import { NEXT_ENV } from './frameworks.js';
import { type Host, type Project, projectWith } from './host.js';

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

const jestProject = (): Project => projectWith('jest');

async function jest(
  project: Project,
  name: string,
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
): Promise<undefined> {
  const folder = project.write(name, files);
  const bin = join(project.folder, 'node_modules/jest/bin/jest.js');
  await project.run(folder, [bin, '--ci', '--no-cache'], env);
}

/** What docs/entries.md says to set: Babel makes CommonJS of the package too. */
const COMMONJS_SETTINGS = {
  testEnvironment: 'jsdom',
  transform: {
    '\\.[jt]sx?$': [
      'babel-jest',
      { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!adk-session-wasm/)'],
};

const manifestOf = (settings: object): string => JSON.stringify({ private: true, jest: settings });

export const TEST_RUNNERS: readonly Host[] = [
  {
    name: 'Jest, jsdom, CommonJS',
    check: () =>
      jest(jestProject(), 'commonjs', {
        'package.json': manifestOf(COMMONJS_SETTINGS),
        'chat.test.js': commonjs,
      }),
  },
  {
    name: 'Jest, jsdom, ESM',
    check: () =>
      jest(
        jestProject(),
        'esm',
        { 'package.json': manifestOf({ testEnvironment: 'jsdom' }), 'chat.test.mjs': esm },
        {
          // The first option is Jest's for ESM. The second silences Node, which warns of the first.
          NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
        },
      ),
  },
  {
    name: 'next/jest, jsdom',
    check: () =>
      jest(
        projectWith('next_jest'),
        'app',
        {
          'package.json': JSON.stringify({ private: true }),
          'next.config.mjs': `export default { transpilePackages: ['adk-session-wasm'] };`,
          'jest.config.mjs': `import nextJest from 'next/jest.js';
export default nextJest({ dir: './' })({ testEnvironment: 'jsdom' });`,
          'app/page.js': 'export default function Page() { return null; }',
          'chat.test.js': esm,
        },
        NEXT_ENV,
      ),
  },
  {
    name: 'Vitest, jsdom',
    async check() {
      const project = projectWith('vitest');
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
