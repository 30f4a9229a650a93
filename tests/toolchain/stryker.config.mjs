// Faults in a folder of js/, and whether the folder's own tests find them, by StrykerJS:
//
//   FOLDER=values/state npm run mutants
//   FOLDER=values/state npm run mutants -- --mutate js/values/state/keys.ts:10-20     only in these lines

const folder = process.env.FOLDER ?? 'values/state';

export default {
  mutate: [`js/${folder}/**/*.ts`],
  testRunner: 'tap',
  tap: {
    testFiles: [`target/compiled/tests/js/${folder}/**/!(*.rest).test.js`],
    nodeArgs: ['--enable-source-maps', '--test-reporter=tap'],
  },
  buildCommand: 'node tests/toolchain/compile.mjs',
  coverageAnalysis: 'perTest',
  // The sources stand in a copy of the repository below it.
  tempDirName: 'target/stryker',
  ignorePatterns: ['/target', '/docs', '/src', '/conformance/rust'],
  // It would rewrite the paths of tsconfig.json by TypeScript, which the copy does not need.
  tsconfigFile: 'none',
  mutator: { excludedMutations: ['StringLiteral'] },
  reporters: ['clear-text', 'progress-append-only'],
};
