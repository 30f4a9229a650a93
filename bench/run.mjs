// `npm run bench`: compares this package with @google/adk in one run. Prints one line of JSON per case on stdout, a table on stderr.
//
//   npm run bench                   all groups of cases
//   npm run bench -- append read    only these groups
//   npm run bench -- indexed_db firefox webkit      in these browsers; otherwise in Chromium
//
//   npm run bench -- --runs 5       each group so many times; otherwise three times
//   npm run bench -- --compare FILE prints what changed since an earlier run by more than the noise
//
// Each run of a group has its own process, because wasm memory never shrinks and a used heap is slower than a new one. The run
// in the middle counts. All of it is stored in target/bench/ as JSON, with the commit, the date and the processor.
// The exit code is 1 if a case misses its goal. Times depend on other load, so no test runs this.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { webDrivers } from '../tests/toolchain/browsers.mjs';
import { root } from '../tests/toolchain/environment.mjs';
import { changesOf, isBusy, machine, middleOf } from './results.mjs';

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

/** @param {import('./results.mjs').Results} results */
function store(results) {
  const { commit, date } = results.machine;
  const folder = join(root, 'target', 'bench');
  mkdirSync(folder, { recursive: true });
  const time = new Date().toISOString().slice(11, 19).replaceAll(':', '');
  const file = join(folder, `${date}-${time}-${commit}.json`);
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  console.error(`stored in ${file}`);
}

/** Prints what changed. @param {string} file of an earlier run @param {import('./results.mjs').Results} after */
function compare(file, after) {
  const before = /** @type {import('./results.mjs').Results} */ (
    JSON.parse(readFileSync(file, 'utf8'))
  );
  console.error(
    `changes since ${before.machine.commit} of ${before.machine.date}, beyond the noise:`,
  );
  const changes = changesOf(before, after);
  if (changes.length === 0) console.error('none');
  for (const { case: name, before: from, after: to, noise } of changes) {
    const [percent, most] = [to / from - 1, noise].map((part) => `${(part * 100).toFixed(0)} %`);
    console.error(`${name.padEnd(52)}  ${short(from)} → ${short(to)}: ${percent}, noise ${most}`);
  }
}

/** @param {string[]} args */
async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { compare: { type: 'string' }, runs: { type: 'string', default: '3' } },
  });
  const names = positionals.filter((name) => !Object.hasOwn(webDrivers, name));
  const named = positionals.filter((name) => Object.hasOwn(webDrivers, name));
  const browsers = named.length === 0 ? ['chromium'] : named;
  const unknown = names.filter((name) => !groups.includes(name));
  if (unknown.length > 0) {
    console.error(`no such group: ${unknown.join(', ')}; there are: ${groups.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const count = Number(values.runs);
  if (!Number.isInteger(count) || count < 1) throw new Error('--runs is a number from 1');
  const own = await machine();
  const { commit, date, processor, node, load } = own;
  console.error(`${commit}, ${date}, ${processor}, Node ${node.slice(1)}, load ${load.toFixed(1)}`);
  if (isBusy(own)) console.error('The machine is busy: do not publish these numbers.');
  const heads = ['ours', 'other', 'ratio'].map((head) => head.padStart(9));
  console.error(['case'.padEnd(52), ...heads, 'unit'.padEnd(15), 'goal'].join('  '));
  const results = [];
  for (const group of groups.filter((group) => names.length === 0 || names.includes(group))) {
    const runs = Array.from({ length: count }, () => runApart(group, browsers));
    for (const result of middleOf(runs)) {
      results.push(result);
      console.log(JSON.stringify(result));
      console.error(row(result));
      if (result.ok === false) process.exitCode = 1;
    }
  }
  const all = { machine: own, results };
  store(all);
  if (values.compare !== undefined) compare(values.compare, all);
}

const [first, group, ...browsers] = process.argv.slice(2);
if (first === '--group' && group !== undefined) await runHere(group, browsers);
else await main(process.argv.slice(2));
