// A Chromium without a driver, on a profile that outlives it: what can be killed and started again within a second.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostEnv } from '../../../toolchain/environment.mjs';
import { browserHome, webDrivers } from '../../../toolchain/browsers.mjs';

export interface ChromiumProcess {
  /** Kills the browser with all its processes, as they are; resolves when they are gone. */
  kill(): Promise<void>;
}

export function startChromium(profile: string, url: string): ChromiumProcess {
  const host = hostEnv();
  const env = { ...host, ...browserHome(host) };
  const options = webDrivers.chromium.capabilities(env)['goog:chromeOptions'];
  const { binary, args } = options as { binary?: string; args: string[] };
  assert.ok(binary, 'no Chromium was found: run tests/toolchain/setup/setup.sh');
  // It leads a process group, which contains its renderers and helpers.
  const browser = spawn(binary, [...args, `--user-data-dir=${profile}`, url], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  browser.stdout.resume();
  // All processes of the browser share its output, so it closes when the last process has ended. A process that still
  // lives could hold the database's lock.
  const ended = once(browser, 'close');
  return {
    async kill() {
      assert.equal(browser.exitCode, null, 'Chromium ended by itself');
      process.kill(-browser.pid!, 'SIGKILL');
      await ended;
    },
  };
}
