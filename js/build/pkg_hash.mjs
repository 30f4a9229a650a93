// Whether pkg/ was built from the sources that are here: a SHA-256 over all that goes into it.
//
//   node js/build/pkg_hash.mjs --check

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const record = join(root, 'pkg/build.json');

/** The SHA-256 of all that the wasm is made from. */
export function sourceHash() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length))
    // Built into tests alone, never into the wasm.
    .filter((file) => !file.includes('conformance'));
  const build = ['wasm', 'import_names', 'literals', 'wasm_reader'].map(
    (name) => `js/build/${name}.mjs`,
  );
  const files = [...sources, 'Cargo.toml', 'Cargo.lock', ...build];
  const hash = createHash('sha256');
  for (const file of files.map((file) => file.replaceAll('\\', '/')).sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

if (process.argv.includes('--check')) {
  const { sources } = JSON.parse(readFileSync(record, 'utf8'));
  if (sources !== sourceHash()) {
    console.error('pkg/ was built from other sources than these: run `npm run build`, commit pkg/');
    process.exit(1);
  }
  console.log('pkg/ was built from these sources');
}
