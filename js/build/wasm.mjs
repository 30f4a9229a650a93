// Builds pkg/ from src/, with all and with the rules alone: rustc, wasm-bindgen, wasm-opt, then a record of what it was built from, and by what.
//
//   node js/build/wasm.mjs [FOLDER]     into another folder than pkg/

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { gzipSync } from 'node:zlib';
import { adaptedGlue, adaptedTypes, withoutHashes, withoutNumbers } from './glue.mjs';
import { outputHashes, sourceHash } from './pkg_hash.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

// All features that rustc emits; wasm-opt refuses a module with a feature that it was not given.
const features = [
  'bulk-memory',
  'nontrapping-float-to-int',
  'reference-types',
  'multivalue',
  'sign-ext',
  'mutable-globals',
];

// These values give the best size of the gzipped wasm together with the time of an append. Less inlining
// is not smaller. `opt-level = "s"` is 3 % smaller and 10 % slower. Functions with one caller compress
// better if they are not inlined.
const inlining = [
  '-inline-threshold=15',
  '-inlinehint-threshold=50',
  '-enable-pre=false',
  '-jump-threading-threshold=2',
];
// The code around JavaScript's calls: the gzipped wasm is 1.7 KB smaller, and an append takes as long. Not in Cargo.toml,
// since the packed library would warn of a package that it has not.
const outside = ['--config', 'profile.release.package.adk-session-wasm.opt-level="s"'];
// Only the end of the stack, which grows down to 0, has addresses below 1,024.
const shrinking = [
  ...['-Oz', '--converge', '--one-caller-inline-max-function-size', '30'],
  ...['--low-memory-unused', '--strip-producers', '--strip-target-features'],
];

/** @param {string[]} command @param {NodeJS.ProcessEnv} env */
function run(command, env) {
  console.log(`$ ${command.join(' ')}`);
  const { status } = spawnSync(command[0], command.slice(1), { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs the tools, and returns the environment that finds them. @returns {NodeJS.ProcessEnv} */
function toolsEnv() {
  const script = join(root, 'js/build/wasm_tools.sh');
  const stdio = /** @type {const} */ (['ignore', 'pipe', 'inherit']);
  const { status, stdout } = spawnSync('bash', [script], { stdio, encoding: 'utf8' });
  if (status !== 0) process.exit(status ?? 1);
  const programs = ['node_modules/.bin', 'target/tools/bin'].map((folder) => join(root, folder));
  const PATH = [...programs, process.env.PATH].join(delimiter);
  return { ...process.env, ...parseEnv(stdout), PATH };
}

/** The first line that a tool prints of its version. @param {string} tool @param {NodeJS.ProcessEnv} env */
function versionOf(tool, env) {
  const { stdout } = spawnSync(tool, ['--version'], { cwd: root, env, encoding: 'utf8' });
  return stdout.split('\n')[0];
}

const out = resolve(root, process.argv[2] ?? 'pkg');

const env = toolsEnv();
// No paths of the machine in the wasm: equal sources give equal bytes wherever they lie.
const home = env.CARGO_HOME ?? join(env.HOME ?? '', '.cargo');
const registries = join(home, 'registry', 'src');
run(['cargo', 'fetch', '--locked'], env); // to know where they lie
env.RUSTFLAGS = [
  `--remap-path-prefix=${root}=/`,
  ...readdirSync(registries).map((name) => `--remap-path-prefix=${join(registries, name)}=`),
  ...inlining.map((option) => `-Cllvm-args=${option}`),
].join(' ');
// Not by wasm-pack: its `cargo build` also makes the library for Rust, for
// which rustc supports no `lto`. With `lto`, the wasm is 5 % smaller.
const target = 'wasm32-unknown-unknown';
const only = [
  '--package',
  'adk-session-wasm',
  '--lib',
  '--crate-type',
  'cdylib',
  '--target',
  target,
];
const folder = join(env.CARGO_TARGET_DIR ?? 'target', target, 'release');
const enabled = features.map((name) => `--enable-${name}`);

/**
 * Builds the wasm and its glue with some of the crate's features, and returns the numbers that both builds share.
 *
 * @param {string} name of the files
 * @param {string[]} ofFeatures options of cargo
 * @param {string[]} ofTypes options of wasm-bindgen
 */
function build(name, ofFeatures, ofTypes = []) {
  run(['cargo', 'rustc', '--release', ...outside, ...only, ...ofFeatures], env);
  // Else bundlers that see `new URL('…_bg.wasm', import.meta.url)` emit a second copy of the wasm.
  const glued = ['--target', 'web', '--omit-default-module-path', '--out-dir', out, ...ofTypes];
  const compiled = join(folder, 'adk_session_wasm.wasm');
  run(['wasm-bindgen', compiled, '--out-name', name, ...glued], env);
  const wasm = join(out, `${name}_bg.wasm`);
  run(['wasm-opt', ...shrinking, ...enabled, wasm, '-o', wasm], env);
  const js = join(out, `${name}.js`);
  const unhashed = withoutHashes(adaptedGlue(readFileSync(js, 'utf8')), readFileSync(wasm));
  const { glue, numbers } = withoutNumbers(unhashed.glue);
  writeFileSync(js, glue);
  writeFileSync(wasm, unhashed.wasm);
  const size = sizeOf(unhashed.wasm);
  console.log(`${wasm}: ${size.bytes} bytes, ${size.gzip} gzipped`);
  return { numbers, size };
}

/** @param {Buffer} wasm */
function sizeOf(wasm) {
  return { bytes: wasm.length, gzip: gzipSync(wasm, { level: 9 }).length };
}

const rules = build(
  'adk_session_rules',
  ['--no-default-features', '--features', 'rules'],
  ['--no-typescript'],
);
const all = build('adk_session_wasm', []);
if (all.numbers !== rules.numbers) throw new Error('the two builds number differently');
writeFileSync(join(out, 'adk_session_numbers.js'), all.numbers);
const types = join(out, 'adk_session_wasm.d.ts');
writeFileSync(types, adaptedTypes(readFileSync(types, 'utf8')));

const tools = ['rustc', 'wasm-bindgen', 'wasm-opt'];
const record = {
  sources: sourceHash(),
  outputs: outputHashes(out),
  tools: Object.fromEntries(tools.map((tool) => [tool, versionOf(tool, env)])),
  ...all.size,
  rules: rules.size,
};
writeFileSync(join(out, 'build.json'), `${JSON.stringify(record, undefined, 2)}\n`);
