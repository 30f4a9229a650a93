/** Finds out whether the browser has lost a database. */
import type { DataLoss } from '../../values/model/storage_info.js';

/**
 * Timeout of a request to the Cache API, in milliseconds. A request without an answer must not keep a
 * database from opening.
 */
const PATIENCE = 5_000;

/** The key of the note in the cache. Nothing is ever fetched from there. */
const NOTE = 'https://adk-session-wasm.invalid/note';

/**
 * Remembers outside of IndexedDB that something is stored there. If it is gone although its flag is set, it
 * was lost. If it is not there and has no flag, it was never stored, or deleted on purpose.
 *
 * The flag is the name of a cache of the Cache API, which pages and workers of all browsers have. The cache has at
 * most a note. It is deleted when the user clears the site's data. Without a Cache API (a page without TLS, some
 * private modes) nothing is remembered, and nothing fails.
 */
export class PresenceFlag {
  readonly #name: string;
  /** The cache that this flag has set. If others delete it, what is put into it is gone as well. */
  #cache: Cache | undefined;
  /** The last request. Requests run one after another, so that the last one decides. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param name what is stored: a kind and a name */
  constructor(name: string) {
    this.#name = `adk-session-wasm:${name}`;
  }

  isSet(): Promise<boolean> {
    return this.#ask(false, (caches) => caches.has(this.#name));
  }

  set(): Promise<void> {
    return this.#ask(undefined, async (caches) => {
      this.#cache = await caches.open(this.#name);
    });
  }

  /** Returns the note; `''` if there is none, `undefined` if the flag is not set. */
  note(): Promise<string | undefined> {
    return this.#ask(undefined, async (caches) => {
      if (!(await caches.has(this.#name))) return undefined;
      const response = await caches.match(NOTE, { cacheName: this.#name });
      return response === undefined ? '' : response.text();
    });
  }

  /** Changes the note of a flag that was set here. A flag that was removed since is not set again. */
  putNote(text: string): Promise<void> {
    return this.#ask(undefined, async () => this.#cache?.put(NOTE, new Response(text)));
  }

  #remove(): Promise<unknown> {
    return this.#ask(false, (caches) => {
      this.#cache = undefined;
      return caches.delete(this.#name);
    });
  }

  /** Deletes what is stored, so that its absence does not count as a loss. */
  async whileDeleting<T>(deletion: () => Promise<T>): Promise<T> {
    // Before the deletion: otherwise a crash in between would look like a loss.
    await this.#remove();
    const result = await deletion();
    // And after it: another tab may have stored something meanwhile.
    await this.#remove();
    return result;
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

/**
 * Returns the loss of what is not in IndexedDB. Without a message of the browser, the flag decides.
 *
 * @param stored names what is not there, in a sentence
 * @param message Chromium's message about the loss
 */
export async function findLoss(
  flag: PresenceFlag,
  stored: string,
  message = '',
): Promise<DataLoss | undefined> {
  if (message === '' && !(await flag.isSet())) return undefined;
  const reason = message === '' ? 'it was there before and is not any more' : message;
  return {
    when: Date.now(),
    message: `The browser gave up ${stored} with everything in it: ${reason}.`,
  };
}
