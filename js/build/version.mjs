// The version of the packages, which stands in several files.
//
//   node js/build/version.mjs                   fails unless all files have the same version; prints it
//   node js/build/version.mjs --release v0.2.0  fails as well unless the tag names it, CHANGELOG.md has its date, and
//                                               README.md says no more that it is unpublished; prints the changes
//   node js/build/version.mjs 0.2.0             writes the version into all files

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = 'Unreleased';

/** The files, and what stands before and after each version in them. @type {readonly (readonly [string, RegExp])[]} */
const PLACES = [
  ['package.json', /(?<=^ {2}"version": ")[^"]*(?=")/gm],
  ['package-lock.json', /(?<="name": "adk-session-wasm",\s+"version": ")[^"]*(?=")/g],
  // Of the workspace, or of a crate that has one of its own.
  ['Cargo.toml', /(?<=^version = ")[^"]*(?=")/gm],
  ['src/wasm/Cargo.toml', /(?<=^(?:version = "|adk-session-core = \{ version = "=))[^"]*(?=")/gm],
  ['Cargo.lock', /(?<=name = "adk-session-(?:core|wasm)"\nversion = ")[^"]*(?=")/g],
  ...['chat_node', 'next_app', 'plain_page', 'python_and_browser'].map(
    (name) =>
      /** @type {const} */ ([
        `examples/${name}/package.json`,
        /(?<=adk-session-wasm-)[^"]*(?=\.tgz")/g,
      ]),
  ),
  [CHANGELOG, /(?<=^(?:(?!## ).*\n)*## )\S*/g],
];

/**
 * What disagrees, one sentence each.
 *
 * @param {string} root the repository
 * @returns {string[]}
 */
export function disagreements(root) {
  const version = versionOf(root);
  return PLACES.flatMap(([file, place]) => {
    const found = readFileSync(join(root, file), 'utf8').match(place) ?? [];
    if (found.length === 0) return [`${file} has no version`];
    const others = found.filter((each) => each !== version);
    return others.map((each) => `${file} has ${each}, but package.json ${version}`);
  });
}

/**
 * Why a tag cannot be released, one sentence each.
 *
 * @param {string} root
 * @param {string} tag
 * @returns {string[]}
 */
export function obstacles(root, tag) {
  const version = versionOf(root);
  const problems = disagreements(root);
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, but package.json has ${version}`);
  const heading = newestHeading(readFileSync(join(root, CHANGELOG), 'utf8'));
  if (!/ – \d{4}-\d\d-\d\d$/.test(heading)) {
    problems.push(`the first heading of ${CHANGELOG} has no date: ${heading}`);
  }
  if (readFileSync(join(root, 'README.md'), 'utf8').includes('is not on npm yet')) {
    problems.push('README.md says that the package is not on npm yet');
  }
  return problems;
}

/** Returns the newest section of the changelog, without its heading. @param {string} root */
export function notes(root) {
  const [, section = ''] = readFileSync(join(root, CHANGELOG), 'utf8').split(/^## .*$/m);
  return section.trim();
}

/**
 * Writes a version into all files. The newest section of the changelog becomes that version's; if it is released, the
 * version gets one above it.
 *
 * @param {string} root
 * @param {string} version
 */
export function raise(root, version) {
  for (const [file, place] of PLACES) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const isReleased = file === CHANGELOG && !newestHeading(text).endsWith(UNRELEASED);
    const changed = isReleased
      ? text.replace(/^## /m, `## ${version} – ${UNRELEASED}\n\n## `)
      : text.replace(place, version);
    writeFileSync(path, changed);
  }
}

/** @param {string} changelog @returns {string} */
function newestHeading(changelog) {
  const [heading = ''] = /^## .*$/m.exec(changelog) ?? [];
  return heading;
}

/** @param {string} root @returns {string} */
function versionOf(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const [argument, tag = ''] = process.argv.slice(2);
  const isRelease = argument === '--release';
  if (argument !== undefined && !isRelease) {
    if (!VERSION.test(argument)) {
      console.error(`not a version: ${argument}; give one such as 0.2.0 or 0.2.0-rc.1`);
      process.exit(2);
    }
    raise(root, argument);
    console.error('pkg/ records what it was built from: run `npm run build`, and commit all.');
  }
  const problems = isRelease ? obstacles(root, tag) : disagreements(root);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(isRelease ? notes(root) : versionOf(root));
}
