// One of several windows of a browser, and what a test lets its page do.

import assert from 'node:assert/strict';
import { By, type WebDriver } from 'selenium-webdriver';
import { evaluation, type Report, valueOf, WAIT_FOR_REPORT } from './report.js';

/** The functions that a page exposes (see expose_scenarios.ts), with JSON values. `never[]` allows any parameters. */
export type Scenarios = Record<string, (...values: never[]) => unknown>;

/**
 * Starts a scenario. The values are JSON text, so that the page creates the objects: in Firefox, a driver's scripts run in
 * another realm. WebKit's driver does not wait for modules.
 */
const START = `
  const [name, values, done] = arguments;
  const start = () => {
    if (window.startScenario !== undefined) done(window.startScenario(name, values));
    else if (window.loadError !== undefined) done(window.loadError);
    else setTimeout(start, 20);
  };
  start();`;

/** The windows of a browser, by the names that its WebDriver session gave them. */
export interface Windows {
  readonly session: WebDriver;
  /** Stays open until the browser is closed. */
  readonly home: string;
  /** Open and without a page. To open another one takes a browser longer than to load a page. */
  readonly unused: string[];
  /** How many milliseconds a page may take to report. */
  readonly patience: number;
  /** The script that a page runs before it is left for good. */
  readonly beforeLeaving: string;
}

/** A WebDriver session has one active tab, so each call first switches to its tab. Await each call before the next. */
export class Tab<S extends Scenarios> {
  readonly #windows: Windows;
  readonly #session: WebDriver;
  readonly #handle: string;
  #isDone = false;

  constructor(windows: Windows, handle: string) {
    this.#windows = windows;
    this.#session = windows.session;
    this.#handle = handle;
  }

  /** Navigates, and waits until the page has loaded. */
  async open(url: string): Promise<void> {
    await this.#turn();
    await this.#session.get(url);
  }

  /** Makes this the tab that was used last. */
  async focus(): Promise<void> {
    await this.#turn();
  }

  async back(): Promise<void> {
    await this.#turn();
    await this.#session.navigate().back();
  }

  /** Calls a scenario of the page and waits for what comes of it. */
  async call<N extends keyof S & string>(
    name: N,
    ...values: Parameters<S[N]>
  ): Promise<Awaited<ReturnType<S[N]>>> {
    await this.start(name, ...values);
    return this.finish<N>();
  }

  /** Calls a scenario and lets it run; the next one that is started takes its report's place. */
  async start<N extends keyof S & string>(name: N, ...values: Parameters<S[N]>): Promise<void> {
    await this.#turn();
    const text = JSON.stringify(values);
    const loadError = await this.#session.executeAsyncScript<unknown>(START, name, text);
    assert.equal(loadError, null, `the page's module did not load: ${String(loadError)}`);
  }

  /** The result of the scenario that was started last. */
  async finish<N extends keyof S & string>(): Promise<Awaited<ReturnType<S[N]>>> {
    await this.#turn();
    type Value = Awaited<ReturnType<S[N]>>;
    const report = await this.#session.executeAsyncScript<Report<Value>>(
      WAIT_FOR_REPORT,
      this.#windows.patience - 5000,
    );
    return valueOf(report);
  }

  /** Presses keys, one after the other, as a user does: `Key` of selenium-webdriver has the special ones. */
  async press(...keys: string[]): Promise<void> {
    await this.#turn();
    await this.#session
      .actions()
      .sendKeys(...keys)
      .perform();
  }

  /** Gives files of the disk to the file input of the page, as a user chooses them. */
  async chooseFiles(paths: readonly string[]): Promise<void> {
    await this.#turn();
    const input = await this.#session.findElement(By.css('input[type=file]'));
    await input.sendKeys(paths.join('\n'));
  }

  /** Evaluates an expression in the page, which exposes nothing for that, and waits for its promise. */
  async evaluate<T>(expression: string): Promise<T> {
    await this.#turn();
    return valueOf(await this.#session.executeAsyncScript<Report<T>>(evaluation(expression)));
  }

  /** A picture of what the window shows, as PNG. */
  async picture(): Promise<Buffer> {
    await this.#turn();
    return Buffer.from(await this.#session.takeScreenshot(), 'base64');
  }

  /** Closes the window. Neither this nor `leave` does anything after one of the two. */
  async close(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    await this.#turn();
    await this.#session.close();
    await this.#session.switchTo().window(this.#windows.home);
  }

  /** Ends the page. The next tab gets the window. */
  async leave(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    await this.#turn();
    await this.#session.executeScript(this.#windows.beforeLeaving);
    await this.#session.get('about:blank');
    this.#windows.unused.push(this.#handle);
  }

  async #turn(): Promise<void> {
    await this.#session.switchTo().window(this.#handle);
  }
}
