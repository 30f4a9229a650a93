import { abortedError } from '../../call/call.js';
import { onAbort } from '../../call/on_abort.js';
import type { Decide, StorageAdapter, StorageWriteRequest } from '../adapter.js';
import type { Changes, Found } from '../rows.js';

/** One write of a group, with its outcome. */
interface Member {
  readonly request: StorageWriteRequest;
  readonly decide: (found: Found) => Changes | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Collects writes, and lets an adapter run them by its `appendMany`.
 *
 * A member whose signal fires before its decision is refused, and the others go on. If the adapter retries the
 * group, each attempt asks the signal again.
 */
export class WriteGroup {
  readonly #adapter: StorageAdapter;
  readonly #members: Member[] = [];

  constructor(adapter: StorageAdapter) {
    this.#adapter = adapter;
  }

  /** Adds a write. Has the form of an adapter's verb. */
  append(request: StorageWriteRequest, decide: Decide): Promise<void> {
    const { signal } = request;
    return new Promise<void>((resolve, reject) => {
      let isDecided = false;
      const stop =
        signal &&
        onAbort(signal, () => {
          // The commit may be sent already.
          if (!isDecided) reject(abortedError(signal));
        });
      this.#members.push({
        request,
        decide(found) {
          if (signal?.aborted === true) {
            // If it was decided before, that attempt was rolled back.
            reject(abortedError(signal));
            return undefined;
          }
          isDecided = true;
          try {
            return decide(found);
          } catch {
            // The caller of `append` gets the error.
            return undefined;
          }
        },
        resolve() {
          stop?.();
          resolve();
        },
        reject(reason) {
          stop?.();
          reject(reason);
        },
      });
    });
  }

  /** Runs the writes. Each promise of {@link WriteGroup.append} then settles. */
  run(): void {
    const members = this.#members;
    if (members.length === 0) return;
    const writes = members.map(({ request, decide }) => ({ request, decide }));
    const succeed = (): void => {
      for (const { resolve } of members) resolve();
    };
    const fail = (reason: Error): void => {
      for (const { reject } of members) reject(reason);
    };
    try {
      Promise.resolve(this.#adapter.appendMany?.(writes)).then(succeed, fail);
    } catch (error) {
      fail(error as Error);
    }
  }
}
