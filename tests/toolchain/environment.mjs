// The environment of the programs that the tests start: this process's, with the paths of setup.sh (target/toolchain.env).

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const found = join(root, 'target', 'toolchain.env');

/**
 * Returns the environment for wasm32, which may need another Rust (`RUSTUP_TOOLCHAIN`).
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function wasmEnv() {
  const script = 'set -a; . "$1"; exec "$2" -p "JSON.stringify(process.env)"';
  const env = existsSync(found)
    ? JSON.parse(bash(script, found, process.execPath))
    : { ...process.env };
  env.PATH = [join(root, 'node_modules', '.bin'), env.PATH].join(delimiter);
  // Without debug information Cargo takes a third less time for tests, which then share macros with the lints.
  env.CARGO_PROFILE_DEV_DEBUG ??= '0';
  // People and counts.mjs read the logs. npm would pass its own --silent on.
  env.NO_COLOR = '1';
  env.CARGO_TERM_COLOR = 'never';
  delete env.FORCE_COLOR;
  delete env.npm_config_loglevel;
  return env;
}

/**
 * Returns the environment for everything else, with the machine's default Rust and the installed browsers.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function hostEnv() {
  const env = wasmEnv();
  env.RUSTUP_TOOLCHAIN = process.env.RUSTUP_TOOLCHAIN; // undefined: not passed on
  return env;
}

/** @param {string} script @param {string[]} values */
function bash(script, ...values) {
  const args = ['-c', script, 'bash', ...values];
  const { stdout, error } = spawnSync('bash', args, { encoding: 'utf8' });
  if (error) throw error;
  return stdout;
}
