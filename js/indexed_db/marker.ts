import type { DataLoss } from '../model/session_service.js';

/** Milliseconds to wait for an answer. One that does not come must not keep a database from opening. */
const PATIENCE = 5_000;

/**
 * What is remembered of a database outside of IndexedDB: that it is there. A database that is new although
 * its marker is there was lost; without a marker it is a first visit.
 *
 * The marker is the name of an empty cache of the Cache API, which pages and workers of all engines have.
 * It goes when the user clears the site's data. Where there is none (a page without TLS, some private modes),
 * nothing is remembered and nothing fails.
 */
export class Marker {
  readonly #name: string;
  /** Of the name of a cache that ends with what was lost, as JSON. */
  readonly #lossPrefix: string;
  /** One after the other, so that what is asked for last counts. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string) {
    this.#name = `adk-session-wasm:database:${name}`;
    this.#lossPrefix = `adk-session-wasm:lost:${JSON.stringify(name)}:`;
  }

  isSet(): Promise<boolean> {
    return this.#ask(false, (caches) => caches.has(this.#name));
  }

  set(): Promise<unknown> {
    return this.#ask(undefined, async (caches) => {
      if (!(await caches.has(this.#name))) await caches.open(this.#name);
    });
  }

  /** Forgets the database, and a loss of it. */
  async remove(): Promise<void> {
    await this.#ask(false, (caches) => caches.delete(this.#name));
    await this.removeLoss();
  }

  /** The loss after which the database was not filled again, if there was one. */
  loss(): Promise<DataLoss | undefined> {
    return this.#ask(undefined, async (caches) => {
      const [name] = await this.#lossNames(caches);
      if (name === undefined) return undefined;
      return JSON.parse(name.slice(this.#lossPrefix.length)) as DataLoss;
    });
  }

  /** @returns whether the loss will be remembered */
  setLoss(loss: DataLoss): Promise<boolean> {
    return this.#ask(false, async (caches) => {
      await caches.open(this.#lossPrefix + JSON.stringify(loss));
      return true;
    });
  }

  removeLoss(): Promise<void> {
    return this.#ask(undefined, async (caches) => {
      for (const name of await this.#lossNames(caches)) await caches.delete(name);
    });
  }

  async #lossNames(caches: CacheStorage): Promise<string[]> {
    return (await caches.keys()).filter((name) => name.startsWith(this.#lossPrefix));
  }

  /** `otherwise` where nothing can be remembered, or no answer comes. */
  #ask<T>(otherwise: T, run: (caches: CacheStorage) => Promise<T>): Promise<T> {
    const answer = this.#last.then(async () => {
      try {
        // Missing, or even looking at it throws.
        return await run(globalThis.caches);
      } catch {
        return otherwise;
      }
    });
    const inTime = new Promise<T>((resolve) => {
      const late = setTimeout(resolve, PATIENCE, otherwise);
      void answer.then((value) => {
        clearTimeout(late);
        resolve(value);
      });
    });
    this.#last = inTime;
    return inTime;
  }
}
