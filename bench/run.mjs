// `npm run bench`: compares this package with @google/adk in one run. Prints one line of JSON per case on stdout, a table on stderr.
//
//   npm run bench                   all groups of cases
//   npm run bench -- append read    only these groups
//   npm run bench -- indexed_db firefox webkit      in these browsers; otherwise in Chromium
//
// Each group runs in its own process, because wasm memory never shrinks and a used heap is slower than a new one.
// The exit code is 1 if a case misses its goal. Times depend on other load, so no test runs this.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { webDrivers } from '../tests/toolchain/browsers.mjs';

/** @typedef {import('./measure.mjs').Result} Result */

const self = fileURLToPath(import.meta.url);
const groups = readdirSync(new URL('cases', import.meta.url)).map((file) =>
  file.slice(0, -'.mjs'.length),
);

/** @param {string} group @param {string[]} browsers */
async function runHere(group, browsers) {
  const { default: run } = await import(`./cases/${group}.mjs`);
  for (const result of await run(browsers)) console.log(JSON.stringify(result));
}

/**
 * @param {string} group
 * @param {string[]} browsers
 * @returns {Result[]}
 */
function runApart(group, browsers) {
  const args = ['--expose-gc', '--max-old-space-size=4096', self, '--group', group, ...browsers];
  const { status, stdout } = spawnSync(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the cases of ${group} failed`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** @param {number | null | undefined} value `null`: a page returns an absent member so */
function short(value) {
  return value === undefined || value === null ? '–' : value.toPrecision(3);
}

/** @param {Result} result */
function row(result) {
  const verdict = result.ok === undefined ? '' : result.ok ? 'ok' : 'MISSED';
  const cells = [short(result.ours), short(result.peer), short(result.ratio)];
  return [
    result.case.padEnd(52),
    ...cells.map((cell) => cell.padStart(9)),
    result.unit.padEnd(15),
    result.goal.padEnd(30),
    verdict,
  ].join('  ');
}

/** @param {string[]} args */
function main(args) {
  const names = args.filter((name) => !Object.hasOwn(webDrivers, name));
  const named = args.filter((name) => Object.hasOwn(webDrivers, name));
  const browsers = named.length === 0 ? ['chromium'] : named;
  const unknown = names.filter((name) => !groups.includes(name));
  if (unknown.length > 0) {
    console.error(`no such group: ${unknown.join(', ')}; there are: ${groups.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const heads = ['ours', 'other', 'ratio'].map((head) => head.padStart(9));
  console.error(['case'.padEnd(52), ...heads, 'unit'.padEnd(15), 'goal'].join('  '));
  for (const group of groups.filter((group) => names.length === 0 || names.includes(group))) {
    for (const result of runApart(group, browsers)) {
      const { case: name, ours, peer = null, ratio = null, unit, goal, ok = null } = result;
      console.log(JSON.stringify({ case: name, ours, peer, ratio, unit, goal, ok }));
      console.error(row(result));
      if (ok === false) process.exitCode = 1;
    }
  }
}

const [first, group, ...browsers] = process.argv.slice(2);
if (first === '--group' && group !== undefined) await runHere(group, browsers);
else main(process.argv.slice(2));
