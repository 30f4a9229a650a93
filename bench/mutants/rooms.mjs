// Which tests are the tests of a module. A path is a file or a folder of tests/.

const SUITE = 'js/conformance.test.ts';
/**
 * By folder of js/: the tests that all faults of it meet, and those that only the faults meet which these do not find.
 * indexed_db is tested in a browser only, and inspector, react and assistant_ui for the most part: here in Chromium.
 *
 * @type {Record<string, [string[], string[]]>}
 */
const TESTS = {
  adk: [['js/adk'], ['browser/adk/adk.test.ts']],
  append: [
    ['js/append', SUITE],
    ['js/handle', 'js/invocation', 'js/service'],
  ],
  assistant_ui: [['js/assistant_ui'], ['browser/assistant_ui']],
  cache: [['js/cache'], ['js/live/session/cached.test.ts', 'browser/cache/chromium.test.ts']],
  call: [
    ['js/call', 'js/service'],
    ['js/append', 'js/server', 'js/remote'],
  ],
  command: [['js/command'], []],
  database: [['js/database'], ['interop/adk_database']],
  errors: [
    ['js/errors', 'js/service/bad_input'],
    ['js/service', 'js/server', 'js/remote'],
  ],
  files: [['js/files'], ['js/command']],
  handle: [
    ['js/handle', SUITE],
    ['js/append', 'js/adk', 'js/service'],
  ],
  history: [['js/history'], ['interop/history']],
  http: [['js/remote', 'js/vertex'], ['js/server']],
  indexed_db: [
    ['js/service/indexed_db.test.ts', 'browser/browsers.test.ts'],
    ['browser/indexed_db/chromium.test.ts', 'browser/indexed_db/chromium.rest.test.ts'],
  ],
  inspector: [['js/inspector'], ['browser/inspector/chromium.test.ts']],
  invocation: [['js/invocation', 'js/template'], ['js/adk']],
  json: [
    ['js/json', 'js/service/bad_input'],
    ['js/service', 'js/files', 'js/database/tables'],
  ],
  live: [['js/live'], ['js/react', 'js/vue', 'browser/live', 'browser/react']],
  members: [
    ['js/service', 'js/call'],
    ['js/append', 'js/server'],
  ],
  model: [
    ['js/model', 'js/service'],
    ['js/read', 'js/append', 'js/handle', 'js/files'],
  ],
  python: [['js/python'], ['js/database/tables', 'js/database/sqlite.test.ts', 'js/files']],
  react: [['js/react'], ['browser/react']],
  read: [
    ['js/read', SUITE],
    ['js/service', 'js/cache'],
  ],
  remote: [['js/remote'], ['js/server', 'js/live/session/remote.test.ts']],
  server: [['js/server'], ['js/remote']],
  service: [
    ['js/service', SUITE],
    ['js/read', 'js/append', 'js/database/sqlite.test.ts'],
  ],
  state: [['js/state'], ['js/handle', 'js/invocation', 'js/service', SUITE]],
  storage: [
    [SUITE, 'js/service', 'js/testing'],
    ['js/read', 'js/append', 'js/database/sqlite.test.ts'],
  ],
  template: [['js/template'], ['js/invocation', 'js/adk']],
  testing: [['js/testing', SUITE], []],
  uri: [['js/uri'], ['js/command']],
  vertex: [['js/vertex'], ['js/cache/conformance']],
  vue: [['js/vue'], ['browser/svelte']],
  wasm: [['js/wasm'], ['js/service', 'js/append', SUITE]],
  watch: [['js/watch'], ['js/live', 'js/server', 'js/cache', 'browser/live']],
};

/** Of src/, by its wasm: the rest is tested by `cargo test` first. */
const OF_WASM = [SUITE, 'js/append', 'js/service', 'js/read', 'js/invocation', 'js/template'];

/** @param {string} file @returns {[string[], string[]]} */
export function testsOf(file) {
  if (file.startsWith('src/wasm/indexed_db/')) return TESTS.indexed_db ?? [[], []];
  if (file.startsWith('src/')) return [OF_WASM, ['js/wasm', 'js/handle']];
  return TESTS[file.split('/')[1] ?? ''] ?? [['js/wasm'], ['js/service']]; // the entries
}

/** What has other tests than those of a room: js/build makes the package, and its tests are the packed package. */
export const LEFT_OUT =
  /\.d\.[cm]?ts$|^js\/(build|dist|examples|playground)\/|^js\/inspector\/styles\.ts$/;
