// The three browser engines: which variable of target/toolchain.env names their driver, and what a WebDriver session asks for.
// The wasm suites (through wasm-pack) and the selenium suites in tests/browser/ both start browsers from here.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

/**
 * @typedef {{
 *   driver: string,
 *   wasmPack: string[],
 *   capabilities: (env: NodeJS.ProcessEnv) => Record<string, unknown>,
 * }} Engine
 */

/** @type {{ chromium: Engine, firefox: Engine, webkit: Engine }} */
export const engines = {
  chromium: {
    driver: 'CHROMEDRIVER',
    wasmPack: ['--chrome', '--chromedriver'],
    capabilities: (env) => ({
      'goog:chromeOptions': {
        binary: env.CHROMIUM_BINARY,
        args: [
          '--headless=new',
          '--no-sandbox', // else Chromium does not start as root or in a container; it loads our own pages only
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          // Chromium loads these two pages of its address bar in each window: half of the time that a window takes.
          '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
        ],
      },
    }),
  },
  firefox: {
    driver: 'GECKODRIVER',
    wasmPack: ['--firefox', '--geckodriver'],
    capabilities: (env) => ({
      'moz:firefoxOptions': { binary: env.FIREFOX_BINARY, args: ['-headless'] },
    }),
  },
  webkit: {
    driver: 'SAFARIDRIVER',
    wasmPack: ['--safari', '--safaridriver'],
    // Safari itself takes no options.
    capabilities: (env) =>
      env.WEBKIT_BINARY
        ? { 'webkitgtk:browserOptions': { binary: env.WEBKIT_BINARY, args: ['--automation'] } }
        : {},
  },
};

/**
 * The command that runs the wasm suites: in Node, or those configured for a page or a worker in one engine. Completes its
 * environment.
 *
 * @param {'node' | keyof typeof engines} where
 * @param {NodeJS.ProcessEnv} env
 */
export function wasmPackTest(where, env) {
  const host = where === 'node' ? ['--node'] : ['--headless', ...driverOf(where, env)];
  // Lightly optimised, all checks of a debug build included: WebKitGTK's compilers for wasm break large
  // debug builds now and then (four of fifteen runs ended in traps within safe Rust), its interpreter is
  // too slow for them, and the others take a third longer.
  env.CARGO_PROFILE_RELEASE_OPT_LEVEL = '1';
  // A folder of its own: the build of `pkg/` has other flags, and each would recompile all crates after the other.
  env.CARGO_TARGET_DIR = join(root, 'target', 'wasm-tests');
  env.CARGO_PROFILE_RELEASE_LTO = 'false';
  env.CARGO_PROFILE_RELEASE_CODEGEN_UNITS = '16';
  env.CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS = 'true';
  env.CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS = 'true';
  const command = ['wasm-pack', 'test', ...host, '--mode', 'no-install', '--release'];
  // By name: Cargo would run the documentation's examples as well, which are for the host.
  return [...command, '--', '--all-features', '--test', 'wasm*'];
}

/** @param {keyof typeof engines} name @param {NodeJS.ProcessEnv} env */
function driverOf(name, env) {
  const { driver, wasmPack, capabilities } = engines[name];
  const path = env[driver];
  if (!path) throw new Error(`no driver for ${name} was found: see target/test-logs/set-up.log`);
  // The test runner takes the first driver that the environment names, whatever wasm-pack was told.
  for (const engine of Object.values(engines)) delete env[engine.driver];
  // One file an engine: geckodriver refuses a session that has another browser's options too.
  const folder = join(root, 'target', 'webdriver');
  mkdirSync(folder, { recursive: true });
  env.WASM_BINDGEN_TEST_WEBDRIVER_JSON = join(folder, `${name}.json`);
  writeFileSync(env.WASM_BINDGEN_TEST_WEBDRIVER_JSON, JSON.stringify(capabilities(env), null, 2));
  env.WASM_BINDGEN_TEST_TIMEOUT = '300';
  return [...wasmPack, path];
}
