// The environment of the programs that the tests start: this process's, with the paths of setup.sh (target/toolchain.env).

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const found = join(root, 'target', 'toolchain.env');

/**
 * Returns the environment for wasm32, which may need another Rust (`RUSTUP_TOOLCHAIN`).
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function wasmEnv() {
  const paths = existsSync(found) ? parseEnv(readFileSync(found, 'utf8')) : {};
  const programs = ['node_modules/.bin', 'target/tools/bin'].map((folder) => join(root, folder));
  const PATH = [...programs, process.env.PATH].join(delimiter);
  // Without debug information Cargo takes a third less time for tests, which then share macros with the lints.
  // People and steps.mjs read the logs. npm would pass its own --silent on.
  const colours = { NO_COLOR: '1', CARGO_TERM_COLOR: 'never', FORCE_COLOR: undefined };
  return {
    CARGO_PROFILE_DEV_DEBUG: '0',
    ...process.env,
    ...paths,
    ...colours,
    PATH,
    npm_config_loglevel: undefined,
  };
}

/**
 * Returns the environment for everything else, with the machine's default Rust and the installed browsers.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function hostEnv() {
  return { ...wasmEnv(), RUSTUP_TOOLCHAIN: process.env.RUSTUP_TOOLCHAIN }; // undefined: not passed on
}

/**
 * Takes the machine's default Rust if it is the pinned compiler under another name: rustup would download it once more, and
 * where it cannot, each call of cargo would fail.
 */
export function pinRust() {
  const [, pinned = ''] =
    /channel = "(.+)"/.exec(readFileSync(join(root, 'rust-toolchain.toml'), 'utf8')) ?? [];
  const { stdout } = spawnSync('rustup', ['toolchain', 'list'], { encoding: 'utf8' });
  const installed = (stdout ?? '').split('\n');
  if (process.env.RUSTUP_TOOLCHAIN || installed.some((name) => name.startsWith(pinned))) return;
  const [name] = installed.find((line) => line.includes('default'))?.split(' ') ?? [];
  if (name === undefined) return;
  const env = { ...process.env, RUSTUP_TOOLCHAIN: name };
  const version = spawnSync('rustc', ['--version'], { encoding: 'utf8', env }).stdout ?? '';
  if (version.startsWith(`rustc ${pinned} `)) process.env.RUSTUP_TOOLCHAIN = name;
}
