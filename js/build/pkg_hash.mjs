// Whether pkg/ is what was built from the sources that are here. pkg/build.json has a SHA-256 of all that
// goes into it, and of each file that came out.
//
//   node js/build/pkg_hash.mjs --check     compares hashes, in a moment
//   node js/build/pkg_hash.mjs --rebuild   builds it again as well, and compares the bytes
//   node js/build/pkg_hash.mjs --rebuild --same-tools   fails if it cannot compare them, since the compiler is another

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const RECORD = 'build.json';

/**
 * @typedef {{
 *   sources: string,
 *   outputs: Record<string, string>,
 *   tools: Record<string, string>,
 *   bytes: number,
 *   gzip: number,
 *   rules: { bytes: number, gzip: number },
 * }} Record `sources` and `outputs` are SHA-256; `bytes` and `gzip` are sizes of the wasm
 */

/** The scripts that shape the wasm and its glue. The others of this folder are about TypeScript and this check. */
const SCRIPTS = ['js/build/glue.mjs', 'js/build/wasm.mjs'];

/** The SHA-256 of all that pkg/ is made from: the Rust sources and the scripts that build them. */
export function sourceHash() {
  const filesIn = (/** @type {string} */ folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length))
      .map((file) => file.replaceAll('\\', '/'));
  const files = [...filesIn('src'), ...SCRIPTS, 'Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml'];
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The SHA-256 of each file that a build made. @param {string} folder */
export function outputHashes(folder) {
  const names = readdirSync(folder).filter((name) => name !== RECORD);
  const hashes = names.sort().map((name) => {
    const bytes = readFileSync(join(folder, name));
    return [name, createHash('sha256').update(bytes).digest('hex')];
  });
  return /** @type {{ [name: string]: string }} */ (Object.fromEntries(hashes));
}

/** The record beside the files. @param {string} folder @returns {Record} */
export function recordIn(folder) {
  return JSON.parse(readFileSync(join(folder, RECORD), 'utf8'));
}

/**
 * What is wrong with a built folder, one sentence each.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function problemsOf(folder) {
  if (!existsSync(join(folder, RECORD))) return [`${RECORD} is missing`];
  const { sources, outputs } = recordIn(folder);
  const problems = differences(outputs ?? {}, outputHashes(folder));
  if (sources !== sourceHash()) problems.push('it was built from other sources than these');
  return problems;
}

/** @param {{ [name: string]: string }} expected @param {{ [name: string]: string }} actual */
function differences(expected, actual) {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
  return names
    .filter((name) => expected[name] !== actual[name])
    .map((name) => {
      if (actual[name] === undefined) return `${name} is missing`;
      if (expected[name] === undefined) return `${name} was not built`;
      return `${name} is not what was built`;
    });
}

/** Builds pkg/ into a temporary folder and compares the bytes. @returns {string[]} problems */
function rebuild() {
  const folder = mkdtempSync(join(root, 'target', 'pkg-'));
  try {
    const command = [join(root, 'js/build/wasm.mjs'), folder];
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
    if (status !== 0) return ['it could not be built again'];
    const [committed, built] = [recordIn(join(root, 'pkg')), recordIn(folder)];
    const others = Object.keys(built.tools).filter(
      (tool) => committed.tools?.[tool] !== built.tools[tool],
    );
    // Another compiler makes another wasm of the same sources, so the bytes cannot be compared.
    const reasons = others.map(
      (tool) =>
        `not compared: here is ${built.tools[tool]}, pkg/ was built by ${committed.tools?.[tool]}`,
    );
    if (process.argv.includes('--same-tools') && reasons.length > 0) return reasons;
    for (const reason of reasons) console.log(reason);
    return reasons.length > 0 ? [] : differences(built.outputs, outputHashes(join(root, 'pkg')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv.includes('--check') || process.argv.includes('--rebuild')) {
  const problems = problemsOf(join(root, 'pkg'));
  if (problems.length === 0 && process.argv.includes('--rebuild')) problems.push(...rebuild());
  for (const problem of problems) console.error(`pkg/: ${problem}`);
  if (problems.length > 0) {
    console.error('Run `npm run build`, and commit pkg/.');
    process.exit(1);
  }
  console.log('pkg/ was built from these sources');
}
