// The three browsers: the variables of target/toolchain.env with their drivers, and the capabilities of WebDriver.
// The wasm suites (through wasm-bindgen-test-runner) and the selenium suites in tests/browser/ use them.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './environment.mjs';

/**
 * @typedef {{
 *   driver: string,
 *   capabilities: (env: NodeJS.ProcessEnv) => Record<string, unknown>,
 *   packFlags?: (env: NodeJS.ProcessEnv) => string[],
 * }} WebDriverOptions `packFlags`: with which wasm-pack takes this browser
 */

/** @type {Record<'chromium' | 'firefox' | 'webkit', WebDriverOptions>} */
export const webDrivers = {
  chromium: {
    driver: 'CHROMEDRIVER',
    packFlags: (env) => ['--chrome', '--chromedriver', env.CHROMEDRIVER ?? ''],
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
    packFlags: (env) => ['--firefox', '--geckodriver', env.GECKODRIVER ?? ''],
    capabilities: (env) => ({
      'moz:firefoxOptions': { binary: env.FIREFOX_BINARY, args: ['-headless'] },
    }),
  },
  webkit: {
    driver: 'SAFARIDRIVER',
    // Safari has no options. Of wasm-pack none fits: it asks for Apple's Safari.
    capabilities: (env) =>
      env.WEBKIT_BINARY
        ? { 'webkitgtk:browserOptions': { binary: env.WEBKIT_BINARY, args: ['--automation'] } }
        : {},
  },
};

/**
 * Returns the variables that give browsers a home of their own: Firefox refuses to start as root in another user's home, as in
 * the containers of GitHub. Rust keeps its own.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function browserHome({ HOME = '', CARGO_HOME, RUSTUP_HOME }) {
  const home = join(root, 'target', 'browser-home');
  mkdirSync(home, { recursive: true });
  return {
    HOME: home,
    CARGO_HOME: CARGO_HOME ?? join(HOME, '.cargo'),
    RUSTUP_HOME: RUSTUP_HOME ?? join(HOME, '.rustup'),
  };
}
