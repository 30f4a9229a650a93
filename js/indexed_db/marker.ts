import type { DataLoss } from '../model/session_service.js';

/**
 * Timeout of a request to the Cache API, in milliseconds. A request without an answer must not keep a
 * database from opening.
 */
const PATIENCE = 5_000;

/**
 * Remembers outside of IndexedDB that a database exists. If a database is new although its marker is set, it
 * was lost. If it is new and has no marker, this is a first visit.
 *
 * The marker is the name of an empty cache of the Cache API, which pages and workers of all engines have. It
 * is deleted when the user clears the site's data. Without a Cache API (a page without TLS, some private
 * modes) nothing is remembered, and nothing fails.
 */
export class Marker {
  readonly #name: string;
  /** Prefix of the name of a cache that ends with the loss, as JSON. */
  readonly #lossPrefix: string;
  /** The last request. Requests run one after another, so that the last one decides. */
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

  /** Removes the marker, and the record of a loss. */
  async remove(): Promise<void> {
    await this.#ask(false, (caches) => caches.delete(this.#name));
    await this.removeLoss();
  }

  /** Returns the loss after which the database was not refilled, if there was one. */
  loss(): Promise<DataLoss | undefined> {
    return this.#ask(undefined, async (caches) => {
      const [name] = await this.#lossNames(caches);
      if (name === undefined) return undefined;
      return JSON.parse(name.slice(this.#lossPrefix.length)) as DataLoss;
    });
  }

  /** @returns whether the loss is stored */
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

  /** Runs a request. Returns `otherwise` if the Cache API is missing, or if the request fails or times out. */
  #ask<T>(otherwise: T, run: (caches: CacheStorage) => Promise<T>): Promise<T> {
    const answer = this.#last.then(async () => {
      try {
        // `caches` may be missing, or reading it may throw.
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
