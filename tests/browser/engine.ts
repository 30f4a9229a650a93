// Starts one of the three browsers through its WebDriver, and gets out of a page what it reports.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { Builder, Capabilities, type WebDriver } from 'selenium-webdriver';
import { engines } from '../toolchain/engines.mjs';
import { hostEnv } from '../toolchain/environment.mjs';

export type EngineName = keyof typeof engines;

export const ENGINES = Object.keys(engines) as EngineName[];

/** What a page's `report` came to: its value, or the error that it rejected with. */
export interface Report<T> {
  value?: T;
  error?: { name: string; message: string; code?: string };
}

export interface Browser {
  /** Opens the page and waits for the promise that it puts in `globalThis.report`. */
  report<T>(url: string): Promise<Report<T>>;
  /** The same; a report that is an error fails the test. */
  value<T>(url: string): Promise<T>;
  close(): Promise<void>;
}

const NAMES: Record<EngineName, string> = {
  chromium: 'chrome',
  firefox: 'firefox',
  webkit: 'MiniBrowser',
};

/** Three browsers on a busy machine: none of them is quick. */
const PATIENCE = 60_000;

/**
 * A browser that is not there is a failure, not a reason to skip.
 *
 * @param patience how many milliseconds a page may take to report
 */
export async function openBrowser(name: EngineName, patience = PATIENCE): Promise<Browser> {
  const env = hostEnv();
  const { driver, capabilities } = engines[name];
  const path = env[driver];
  assert.ok(path, `no driver for ${name} was found: run tests/toolchain/setup.sh`);
  const port = await freePort();
  const service = spawn(path, [`--port=${port}`], { env, stdio: 'ignore', detached: true });
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilReady(service, url);
    const asked = new Capabilities({ browserName: NAMES[name], ...capabilities(env) });
    const session = await new Builder().usingServer(url).withCapabilities(asked).build();
    await session.manage().setTimeouts({ pageLoad: PATIENCE, script: patience });
    return browserOf(session, service, patience);
  } catch (error) {
    end(service);
    throw error;
  }
}

function browserOf(session: WebDriver, service: ChildProcess, patience: number): Browser {
  const report = async <T>(url: string): Promise<Report<T>> => {
    await session.get(url);
    return session.executeAsyncScript<Report<T>>(WAIT_FOR_REPORT, patience - 5000);
  };
  return {
    report,
    async value<T>(url: string) {
      const { value, error } = await report<T>(url);
      assert.equal(error, undefined, `the page failed: ${error?.name} ${error?.message}`);
      return value as T;
    },
    async close() {
      try {
        await session.quit();
      } finally {
        end(service);
      }
    },
  };
}

/** Runs in the page. Modules run late, and one that does not load leaves no report at all. */
const WAIT_FOR_REPORT = `
  const [patience, done] = arguments;
  const failed = (error) => ({
    error: { name: String(error?.name), message: String(error?.message ?? error), code: error?.code },
  });
  const late = setTimeout(() => done(failed(new Error('the page reported nothing'))), patience);
  const settle = (report) => (clearTimeout(late), done(report));
  const wait = () => {
    if (globalThis.report === undefined) return setTimeout(wait, 20);
    globalThis.report.then((value) => settle({ value }), (error) => settle(failed(error)));
  };
  wait();`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilReady(service: ChildProcess, url: string): Promise<void> {
  const problem = new Promise<never>((_, reject) => {
    service.once('error', reject);
    service.once('exit', (code) => reject(new Error(`the driver ended with exit code ${code}`)));
  });
  problem.catch(() => undefined);
  const deadline = Date.now() + PATIENCE;
  while (Date.now() < deadline) {
    const ready = await Promise.race([isReady(url), problem]);
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the driver did not become ready');
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/status`);
    const { value } = (await response.json()) as { value?: { ready?: boolean } };
    return value?.ready === true;
  } catch {
    return false;
  }
}

/** The driver with all that it started: it leads a process group of its own. */
function end(service: ChildProcess): void {
  service.unref();
  if (service.pid === undefined) return;
  try {
    process.kill(-service.pid, 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}
