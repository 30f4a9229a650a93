/**
 * Timeout of a request to the Cache API, in milliseconds. A request without an answer must not keep a
 * database from opening.
 */
const PATIENCE = 5_000;

/**
 * Remembers outside of IndexedDB that a database exists. If a database is new although its marker is set, it
 * was lost. If it is new and has no marker, this is a first visit.
 *
 * The marker is the name of an empty cache of the Cache API, which pages and workers of all browsers have. It
 * is deleted when the user clears the site's data. Without a Cache API (a page without TLS, some private
 * modes) nothing is remembered, and nothing fails.
 */
export class Marker {
  readonly #name: string;
  /** The last request. Requests run one after another, so that the last one decides. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string) {
    this.#name = `adk-session-wasm:database:${name}`;
  }

  isSet(): Promise<boolean> {
    return this.#ask(false, (caches) => caches.has(this.#name));
  }

  set(): Promise<unknown> {
    return this.#ask(undefined, async (caches) => {
      if (!(await caches.has(this.#name))) await caches.open(this.#name);
    });
  }

  remove(): Promise<unknown> {
    return this.#ask(false, (caches) => caches.delete(this.#name));
  }

  /** Runs a request. Returns `otherwise` if the Cache API is missing, or if the request fails or times out. */
  #ask<T>(otherwise: T, run: (caches: CacheStorage) => Promise<T>): Promise<T> {
    const request = this.#last.then(async () => {
      try {
        // `caches` may be missing, or reading it may throw.
        return await run(globalThis.caches);
      } catch {
        return otherwise;
      }
    });
    const inTime = new Promise<T>((resolve) => {
      const late = setTimeout(resolve, PATIENCE, otherwise);
      void request.then((value) => {
        clearTimeout(late);
        resolve(value);
      });
    });
    this.#last = inTime;
    return inTime;
  }
}
