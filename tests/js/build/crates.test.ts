import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The Rust files of both crates, by their path. */
const files = new Map(
  readdirSync(join(root, 'src'), { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.rs'))
    .map((file) => {
      const path = join('src', file);
      return [path, readFileSync(join(root, path), 'utf8')];
    }),
);
const isOfWasm = (path: string) => path.startsWith('src/wasm/');

/** The names of a list such as `{One, two}`, or of one name. */
function namesOf(list: string): string[] {
  return list
    .replace(/[{}\s]/g, '')
    .split(',')
    .filter((name) => name !== '');
}

/** What `src/internals.rs` may have. Each name here and below is a promise less that the library can break. */
const INTERNALS = [
  'NameMap',
  'SPARE',
  'artifact_error',
  'broken_storage',
  'check_owner',
  'has_room',
  'merge_scopes',
  'missing_error',
  'now',
  'random_seed',
  'require_room',
  'storage_error',
  'view_rules',
];

/** What is hidden where it stands, because it belongs to a public type. */
const HIDDEN = [
  'StoredSession',
  'carry_out_now',
  'internals',
  'marked',
  'own_to_json',
  'parse_with_order',
  'part',
  'read_markers',
  'size',
  'stored',
  'stored',
  'try_to_json',
  'valid',
  'visit_list',
];

describe('The two crates', () => {
  it('only the module host of the library asks for the system, and knows JavaScript', () => {
    const knowing = [...files]
      .filter(
        ([path, text]) => !isOfWasm(path) && /target_arch|wasm_bindgen|js_sys|JsValue/.test(text),
      ) // prettier-ignore
      .map(([path]) => path);
    assert.deepEqual(knowing.sort(), ['src/host/javascript.rs', 'src/host/mod.rs']);
  });

  it('the library hides what the wasm crate needs of its inside, and nothing else', () => {
    const hidden = [...files.values()].flatMap((text) =>
      [
        ...text.matchAll(/#\[doc\(hidden\)\](?:\s*#\[[^\]]*\])*\s*pub (?:mod|struct|fn) (\w+)/g),
      ].map(([, name = '']) => name),
    );
    assert.deepEqual(hidden.sort(), HIDDEN);
    const count = [...files.values()].join('').split('#[doc(hidden)]').length - 1;
    assert.equal(count, HIDDEN.length, 'each is a module, a type or a function');
    const text = files.get('src/internals.rs') ?? '';
    const reexported = [...text.matchAll(/^pub use [\w:]+::(\{[^}]*\}|\w+);/gm)];
    assert.deepEqual(reexported.flatMap(([, list = '']) => namesOf(list)).sort(), INTERNALS);
    assert.equal(text.match(/\bpub\b/g)?.length, reexported.length, 'it defines nothing itself');
  });

  it('the wasm crate uses all that is in it', () => {
    const used = new Set<string>();
    for (const [path, text] of files) {
      if (!isOfWasm(path)) continue;
      for (const [, list = ''] of text.matchAll(/adk_session::internals::(\{[^}]*\}|\w+)/g)) {
        for (const name of namesOf(list)) used.add(name);
      }
      for (const [, name = ''] of text.matchAll(/\binternals::(\w+)/g)) used.add(name);
    }
    assert.deepEqual([...used].sort(), INTERNALS);
    const text = [...files].flatMap(([path, text]) => (isOfWasm(path) ? [text] : [])).join('\n');
    for (const name of HIDDEN) assert.match(text, new RegExp(`\\b${name}\\b`), name);
  });
});
