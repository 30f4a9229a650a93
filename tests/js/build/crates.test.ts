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

/** What `src/internals.rs` may have. Each name here is a promise less that the library can break. */
const INTERNALS = [
  'ListedSession',
  'Names',
  'SPARE',
  'artifact_error',
  'broken_storage',
  'check_owner',
  'has_room',
  'list_memory',
  'marked_event',
  'merge_scopes',
  'missing_error',
  'now',
  'part_of',
  'random_seed',
  'read_markers',
  'require_room',
  'state_size',
  'state_to_json',
  'storage_error',
  'stored_key',
  'stored_time',
  'valid_time',
  'view_rules',
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

  it('the library hides one module, which has what the wasm crate needs of its inside', () => {
    const hiding = [...files].filter(([, text]) => text.includes('#[doc(hidden)]'));
    assert.deepEqual(
      hiding.map(([path]) => path),
      ['src/lib.rs'],
    );
    const text = files.get('src/internals.rs') ?? '';
    const reexported = [...text.matchAll(/^pub use [\w:]+::(\{[^}]*\}|\w+);/gm)];
    const defined = [...text.matchAll(/^pub (?:fn|struct) (\w+)/gm)];
    const names = [...reexported, ...defined].flatMap(([, list = '']) => namesOf(list));
    assert.deepEqual(names.sort(), INTERNALS);
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
  });
});
