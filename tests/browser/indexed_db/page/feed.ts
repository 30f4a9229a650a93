// Follows what a service's `watch` yields.

import type { IndexedDbSessionService, Notice } from 'adk-session-wasm';
import type { WatchRequest } from '../../../../js/values/model/notice.js';

/** Longer than anything takes here; only a feed that has failed is waited for so long. */
const PATIENCE = 60_000;

export class Feed {
  readonly changes: Notice[] = [];
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #end: Promise<void>;

  constructor(service: IndexedDbSessionService, request: WatchRequest) {
    this.#end = this.#follow(service.watch(request, { signal: this.#stop.signal }));
  }

  async #follow(changes: AsyncIterable<Notice>): Promise<void> {
    for await (const change of changes) {
      this.changes.push(change);
      for (const look of this.#waiting) look();
    }
  }

  /** The revisions that were yielded, by session that was made or appended to. */
  revisions(): Record<string, number[]> {
    const all: Record<string, number[]> = {};
    for (const change of this.changes) {
      if (change.type !== 'created' && change.type !== 'appended') continue;
      (all[change.sessionId] ??= []).push(change.revision);
    }
    return all;
  }

  /** Resolves once `isThere` holds of what was yielded. */
  until(isThere: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`the feed yielded only ${JSON.stringify(this.changes.slice(-20))}`));
      }, PATIENCE);
      const look = (): void => {
        if (!isThere()) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Stops watching; the feed has to end then. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#end;
  }
}
