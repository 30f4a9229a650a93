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
 * The command that runs the wasm suites, those configured for a page or a worker, in one engine; completes its environment.
 *
 * @param {keyof typeof engines} name
 * @param {NodeJS.ProcessEnv} env
 */
export function wasmPackTest(name, env) {
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
  const command = ['wasm-pack', 'test', '--headless', ...wasmPack, path, '--mode', 'no-install'];
  if (name === 'webkit') {
    // WebKitGTK's compilers for wasm break the large debug builds of these suites now and then (four of
    // fifteen runs ended in traps within safe Rust), and its interpreter is too slow for them. So these
    // are lightly optimised, all checks of a debug build included.
    command.push('--release');
    env.CARGO_PROFILE_RELEASE_OPT_LEVEL = '1';
    env.CARGO_PROFILE_RELEASE_LTO = 'false';
    env.CARGO_PROFILE_RELEASE_CODEGEN_UNITS = '16';
    env.CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS = 'true';
    env.CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS = 'true';
  }
  // By name: Cargo would run the documentation's examples as well, which are for the host.
  return [...command, '--', '--all-features', '--test', 'wasm*'];
}
