// The three browsers: the variables of target/toolchain.env with their drivers, and the capabilities of WebDriver.
// The wasm suites (through wasm-pack) and the selenium suites in tests/browser/ use them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

/**
 * @typedef {{
 *   driver: string,
 *   wasmPack: string[],
 *   capabilities: (env: NodeJS.ProcessEnv) => Record<string, unknown>,
 * }} WebDriverOptions
 */

/** @type {Record<'chromium' | 'firefox' | 'webkit', WebDriverOptions>} */
export const webDrivers = {
  chromium: {
    driver: 'CHROMEDRIVER',
    wasmPack: ['--chrome', '--chromedriver'],
    capabilities: (env) => ({
      'goog:chromeOptions': {
        binary: env.CHROMIUM_BINARY,
        args: [
          '--headless=new',
          '--no-sandbox', // otherwise Chromium does not start as root or in a container; it loads only pages of the tests
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          // Chromium loads these two pages of its address bar in each window, which takes half of the window's time.
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
    // Safari has no options.
    capabilities: (env) =>
      env.WEBKIT_BINARY
        ? { 'webkitgtk:browserOptions': { binary: env.WEBKIT_BINARY, args: ['--automation'] } }
        : {},
  },
};

/**
 * Returns the command that runs the tests of `tests/wasm` on a page of a browser. Completes the environment.
 *
 * @param {keyof typeof webDrivers} name
 * @param {NodeJS.ProcessEnv} env
 */
export function wasmPackTest(name, env) {
  const { driver, wasmPack, capabilities } = webDrivers[name];
  const path = env[driver];
  if (!path) throw new Error(`no driver for ${name} was found: see target/test-logs/set-up.log`);
  // The test runner uses the first driver in the environment, and ignores wasm-pack's option.
  for (const other of Object.values(webDrivers)) delete env[other.driver];
  // One file per browser: geckodriver refuses a session with another browser's options.
  const folder = join(root, 'target', 'webdriver');
  mkdirSync(folder, { recursive: true });
  env.WASM_BINDGEN_TEST_WEBDRIVER_JSON = join(folder, `${name}.json`);
  writeFileSync(env.WASM_BINDGEN_TEST_WEBDRIVER_JSON, JSON.stringify(capabilities(env), null, 2));
  env.WASM_BINDGEN_TEST_TIMEOUT = '300';
  const command = ['wasm-pack', 'test', '--headless', ...wasmPack, path, '--mode', 'no-install'];
  if (name === 'webkit') {
    // WebKitGTK's wasm compilers sometimes break large debug builds (four of fifteen runs trapped in safe Rust), and its
    // interpreter is too slow for them. So it gets a lightly optimised build, with the checks of a debug build.
    command.push('--release');
    env.CARGO_TARGET_DIR = join(root, 'target', 'wasm-tests');
    env.CARGO_PROFILE_RELEASE_OPT_LEVEL = '1';
    env.CARGO_PROFILE_RELEASE_LTO = 'false';
    env.CARGO_PROFILE_RELEASE_CODEGEN_UNITS = '16';
    env.CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS = 'true';
    env.CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS = 'true';
  }
  // By name, because Cargo would otherwise run the documentation's examples, which need the host.
  return [...command, '--', '--all-features', '--test', 'wasm'];
}
