// One of several tabs of a browser, and what a test lets its page do.

import type { WebDriver } from 'selenium-webdriver';
import { PATIENCE, type Report, valueOf, WAIT_FOR_REPORT } from './report.js';

/** What a page can be told to do (see offer.ts): functions of JSON values. `never[]`: each has its own. */
export type Scenarios = Record<string, (...values: never[]) => unknown>;

/** As text, so that the page gets objects of its own: in Firefox, a driver's scripts run in a realm beside it. */
const START = 'window.startScenario(arguments[0], arguments[1]);';

/** A WebDriver session looks at one tab at a time, so each call turns to its own first: await one before the next. */
export class Tab<S extends Scenarios> {
  readonly #session: WebDriver;
  readonly #handle: string;
  readonly #home: string;
  #isClosed = false;

  constructor(session: WebDriver, handle: string, home: string) {
    this.#session = session;
    this.#handle = handle;
    this.#home = home;
  }

  /** Navigates, and waits until the page has loaded. */
  async open(url: string): Promise<void> {
    await this.#turn();
    await this.#session.get(url);
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
    await this.#session.executeScript(START, name, JSON.stringify(values));
  }

  /** What comes of the scenario that was started last. */
  async finish<N extends keyof S & string>(): Promise<Awaited<ReturnType<S[N]>>> {
    await this.#turn();
    type Value = Awaited<ReturnType<S[N]>>;
    const report = await this.#session.executeAsyncScript<Report<Value>>(
      WAIT_FOR_REPORT,
      PATIENCE - 5000,
    );
    return valueOf(report);
  }

  /** Once: later calls do nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn();
    await this.#session.close();
    await this.#session.switchTo().window(this.#home);
  }

  async #turn(): Promise<void> {
    await this.#session.switchTo().window(this.#handle);
  }
}
