// Starts one of the three browsers through its WebDriver, and gets out of a page what it reports.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { Agent, type ClientRequestArgs } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Builder, Capabilities, type WebDriver } from 'selenium-webdriver';
import { browserHome, webDrivers } from '../toolchain/browsers.mjs';
import { hostEnv } from '../toolchain/environment.mjs';
import { PATIENCE, type Report, valueOf, WAIT_FOR_REPORT } from './report.js';
import { Tab, type Scenarios, type Windows } from './tab.js';

export type BrowserName = keyof typeof webDrivers;

export const ALL_BROWSERS = Object.keys(webDrivers) as BrowserName[];

/** The browsers of this run: Chromium in the gate, and the others in the rest. */
export const BROWSERS = (process.env.BROWSERS?.split(',') ?? ['chromium']) as BrowserName[];

export interface BrowserOptions {
  /** More of them for the browser's command line. */
  arguments?: string[];
  /** Firefox: as about:config has them. */
  preferences?: Record<string, boolean | number | string>;
  /** How many milliseconds a page may take to report. */
  patience?: number;
}

export interface Browser {
  readonly name: BrowserName;
  /** Opens the page and waits for the promise that it puts in `globalThis.report`. */
  report<T>(url: string): Promise<Report<T>>;
  /** The same; a report that is an error fails the test. */
  value<T>(url: string): Promise<T>;
  /** Opens a new window; `S` has the functions of its pages. */
  openTab<S extends Scenarios>(url: string): Promise<Tab<S>>;
  /** Chromium: one command of its debugging protocol, to the tab that was used last. */
  debug<T>(command: string, parameters?: object): Promise<T>;
  close(): Promise<void>;
}

const NAMES: Record<BrowserName, string> = {
  chromium: 'chrome',
  firefox: 'firefox',
  webkit: 'MiniBrowser',
};

/**
 * Chromium keeps a page for a way back, and starts a process for the next one. It does not keep a page with such a
 * listener. Firefox starts processes where it does not keep a page.
 */
const BEFORE_LEAVING: Record<BrowserName, string> = {
  chromium: "addEventListener('unload', () => undefined);",
  firefox: '',
  webkit: '',
};

/** Longer than any of the limits that a driver keeps by itself. */
const GRACE = 30_000;

/**
 * Ends a command that the driver does not answer. Drivers of Firefox and WebKit rarely hang, then without end: the test
 * would wait until its whole file is stopped, and would not say where.
 */
class AnsweringAgent extends Agent {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override createConnection(options: ClientRequestArgs): Socket {
    const socket = super.createConnection(options) as Socket;
    const late = new Error(`the browser's driver did not answer within ${this.#limit} ms`);
    return socket.setTimeout(this.#limit, () => socket.destroy(late));
  }
}

/**
 * A browser that is not there is a failure, not a reason to skip. One that does not start is started once more: nothing of
 * the package has run in it.
 */
export async function openBrowser(
  name: BrowserName,
  options: BrowserOptions = {},
): Promise<Browser> {
  try {
    return await startBrowser(name, options);
  } catch {
    return startBrowser(name, options);
  }
}

async function startBrowser(name: BrowserName, options: BrowserOptions): Promise<Browser> {
  const { patience = PATIENCE } = options;
  const host = hostEnv();
  const env = { ...host, ...browserHome(host) };
  const { driver, capabilities } = webDrivers[name];
  const path = env[driver];
  assert.ok(path, `no driver for ${name} was found: run tests/toolchain/setup/setup.sh`);
  const port = await freePort();
  const service = spawn(path, [`--port=${port}`], { env, stdio: 'ignore', detached: true });
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilReady(service, url);
    const asked = withOptions(capabilities(env), options);
    const session = await new Builder()
      .usingServer(url)
      .usingHttpAgent(new AnsweringAgent(patience + GRACE))
      .withCapabilities(new Capabilities({ browserName: NAMES[name], ...asked }))
      .build();
    await session.manage().setTimeouts({ pageLoad: PATIENCE, script: patience });
    return await browserOf(name, session, service, url, patience);
  } catch (error) {
    end(service);
    throw error;
  }
}

/** Adds to what the browser's own key in the capabilities has. */
function withOptions(
  capabilities: Record<string, unknown>,
  { arguments: more = [], preferences: prefs }: BrowserOptions,
): Record<string, unknown> {
  const entries = Object.entries(capabilities).map(([key, value]) => {
    const own = value as { args?: string[] };
    return [key, { ...own, args: [...(own.args ?? []), ...more], ...(prefs && { prefs }) }];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

async function browserOf(
  name: BrowserName,
  session: WebDriver,
  service: ChildProcess,
  driverUrl: string,
  patience: number,
): Promise<Browser> {
  // Tabs come and go; this window stays, for a browser without any ends.
  const home = await session.getWindowHandle();
  const beforeLeaving = BEFORE_LEAVING[name];
  const windows: Windows = { session, home, unused: [], patience, beforeLeaving };
  const report = async <T>(url: string): Promise<Report<T>> => {
    await session.switchTo().window(home);
    await session.get(url);
    return session.executeAsyncScript<Report<T>>(WAIT_FOR_REPORT, patience - 5000);
  };
  return {
    name,
    report,
    async value<T>(url: string) {
      return valueOf(await report<T>(url));
    },
    async openTab<S extends Scenarios>(url: string) {
      const tab = new Tab<S>(windows, windows.unused.pop() ?? (await newWindow(session, home)));
      await tab.open(url);
      return tab;
    },
    async debug<T>(command: string, parameters = {}) {
      const id = (await session.getSession()).getId();
      const response = await fetch(`${driverUrl}/session/${id}/goog/cdp/execute`, {
        method: 'POST',
        body: JSON.stringify({ cmd: command, params: parameters }),
      });
      const { value } = (await response.json()) as {
        value: T & { error?: string; message?: string };
      };
      assert.equal(value?.error, undefined, `${command} failed: ${value?.message}`);
      return value;
    },
    async close() {
      // The test is over: a driver that hangs is no failure of it.
      const late = setTimeout(() => end(service, 'SIGKILL'), GRACE);
      await session.quit().catch(() => undefined);
      clearTimeout(late);
      end(service);
    },
  };
}

/** A window, not a tab: WebKit hides a new tab, and slows the timers of a hidden page to one a second. */
async function newWindow(session: WebDriver, home: string): Promise<string> {
  await session.switchTo().window(home);
  await session.switchTo().newWindow('window');
  return session.getWindowHandle();
}

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

/** Ends the driver with its process group. */
function end(service: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): void {
  service.unref();
  if (service.pid === undefined) return;
  try {
    process.kill(-service.pid, signal);
  } catch {
    // It has ended by itself.
  }
}
