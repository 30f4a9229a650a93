import { entries } from './js/build/entries.mjs';

export default {
  entryPoints: entries().map(({ source }) => source),
  name: 'adk-session-wasm',
  tsconfig: 'js/tsconfig.json',
  out: 'target/docs',
  readme: 'none',
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  highlightLanguages: [
    'html',
    'javascript',
    'json',
    'python',
    'rust',
    'shell',
    'sql',
    'tsx',
    'typescript',
  ],
  validation: {
    // tests/packaging/api_report.test.ts has the rules for types that no entry exports.
    notExported: false,
    invalidLink: true,
    notDocumented: true,
  },
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
};
