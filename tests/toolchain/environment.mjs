// The environment of the programs that the tests start: this process's, with the paths of setup.sh (target/toolchain.env).

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
