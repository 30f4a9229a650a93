// Which tests are the tests of a module. A path is a file or a folder of tests/.

const SUITE = 'js/conformance.test.ts';
/**
 * By folder of a layer of js/: the tests that all faults of it meet, and those that only the faults meet which these do not find.
 * indexed_db is tested in a browser only, and inspector, react and assistant_ui for the most part: here in Chromium.
 *
 * @type {Record<string, [string[], string[]]>}
 */
const TESTS = {
  adk: [['js/service/adk'], ['browser/adk/adk.test.ts']],
  append: [
    ['js/service/append', SUITE],
    ['js/core/handle', 'js/service/invocation', 'js/service'],
  ],
  assistant_ui: [['js/ui/assistant_ui'], ['browser/assistant_ui']],
  cache: [
    ['js/stores/cache'],
    ['js/ui/live/session/cached.test.ts', 'browser/cache/chromium.test.ts'],
  ],
  call: [
    ['js/core/call', 'js/service'],
    ['js/service/append', 'js/server', 'js/stores/remote'],
  ],
  command: [['js/command'], []],
  database: [['js/stores/database'], ['interop/adk_database']],
  errors: [
    ['js/values/errors', 'js/service/bad_input'],
    ['js/service', 'js/server', 'js/stores/remote'],
  ],
  files: [['js/service/files'], ['js/command']],
  handle: [
    ['js/core/handle', SUITE],
    ['js/service/append', 'js/service/adk', 'js/service'],
  ],
  history: [['js/core/history'], ['interop/history']],
  http: [['js/stores/remote', 'js/stores/vertex'], ['js/server']],
  indexed_db: [
    ['js/service/indexed_db.test.ts', 'browser/browsers.test.ts'],
    ['browser/indexed_db/chromium.test.ts', 'browser/indexed_db/chromium.rest.test.ts'],
  ],
  inspector: [['js/ui/inspector'], ['browser/inspector/chromium.test.ts']],
  invocation: [['js/service/invocation', 'js/service/template'], ['js/service/adk']],
  json: [
    ['js/values/json', 'js/service/bad_input'],
    ['js/service', 'js/service/files', 'js/stores/database/tables'],
  ],
  live: [['js/ui/live'], ['js/ui/react', 'js/ui/vue', 'browser/live', 'browser/react']],
  members: [
    ['js/service', 'js/core/call'],
    ['js/service/append', 'js/server'],
  ],
  model: [
    ['js/values/model', 'js/service'],
    ['js/service/read', 'js/service/append', 'js/core/handle', 'js/service/files'],
  ],
  python: [
    ['js/values/python'],
    ['js/stores/database/tables', 'js/stores/database/sqlite.test.ts', 'js/service/files'],
  ],
  react: [['js/ui/react'], ['browser/react']],
  read: [
    ['js/service/read', SUITE],
    ['js/service', 'js/stores/cache'],
  ],
  remote: [['js/stores/remote'], ['js/server', 'js/ui/live/session/remote.test.ts']],
  server: [['js/server'], ['js/stores/remote']],
  service: [
    ['js/service', SUITE],
    ['js/service/read', 'js/service/append', 'js/stores/database/sqlite.test.ts'],
  ],
  state: [['js/values/state'], ['js/core/handle', 'js/service/invocation', 'js/service', SUITE]],
  storage: [
    [SUITE, 'js/service', 'js/testing'],
    ['js/service/read', 'js/service/append', 'js/stores/database/sqlite.test.ts'],
  ],
  template: [['js/service/template'], ['js/service/invocation', 'js/service/adk']],
  testing: [['js/testing', SUITE], []],
  uri: [['js/service/uri'], ['js/command']],
  vertex: [['js/stores/vertex'], ['js/stores/cache/conformance']],
  vue: [['js/ui/vue'], ['browser/svelte']],
  wasm: [['js/core/wasm'], ['js/service', 'js/service/append', SUITE]],
  watch: [['js/core/watch'], ['js/ui/live', 'js/server', 'js/stores/cache', 'browser/live']],
};

/** Of src/, by its wasm: the rest is tested by `cargo test` first. */
const OF_WASM = [
  SUITE,
  'js/service/append',
  'js/service',
  'js/service/read',
  'js/service/invocation',
  'js/service/template',
];

/** @param {string} file @returns {[string[], string[]]} */
export function testsOf(file) {
  if (file.startsWith('src/wasm/indexed_db/')) return TESTS.indexed_db ?? [[], []];
  if (file.startsWith('src/')) return [OF_WASM, ['js/core/wasm', 'js/core/handle']];
  const [, layer = '', folder = ''] = file.split('/');
  return TESTS[folder] ?? TESTS[layer] ?? [['js/core/wasm'], ['js/service']]; // the entries
}

/** What has other tests than those of a room: js/build makes the package, and its tests are the packed package. */
export const LEFT_OUT =
  /\.d\.[cm]?ts$|^js\/(build|dist|examples|playground)\/|^js\/ui\/inspector\/styles\.ts$/;
