import { abortedError } from '../../call/call.js';
import { onAbort } from '../../call/on_abort.js';
import type { StorageWrite } from '../requests.js';
import type { Storage } from '../storage.js';
import type { PreparedWrite } from './prepared_write.js';

/** One append of several, with its own outcome. */
interface Member<T> {
  readonly write: StorageWrite;
  /** @param stored settles with the verb */
  readonly settle: (stored: Promise<void>) => Promise<T>;
}

/**
 * Runs appends through a storage's `appendMany`.
 *
 * An append whose signal fires before its decision is refused, and the others go on. If the storage retries, each
 * attempt asks the signal again.
 */
export function writeAllThrough<T>(
  storage: Pick<Storage, 'appendMany'>,
  writes: readonly PreparedWrite<T>[],
): readonly Promise<T>[] {
  const members = writes.map(toMember);
  // A storage may throw instead of rejecting.
  const stored = (async () => storage.appendMany?.(members.map(({ write }) => write)))();
  return members.map(({ settle }) => settle(stored));
}

function toMember<T>({ request, decide, succeed, fail }: PreparedWrite<T>): Member<T> {
  const { signal } = request;
  let isDecided = false;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(abortedError(signal!));
  });
  // After the decision the commit may be sent already.
  const stop = signal && onAbort(signal, () => isDecided || abort());
  return {
    write: {
      request,
      decide(found) {
        if (signal?.aborted === true) {
          // If it was decided before, that attempt was rolled back.
          abort();
          return undefined;
        }
        isDecided = true;
        try {
          return decide(found);
        } catch {
          // `succeed` throws the error.
          return undefined;
        }
      },
    },
    settle: (stored) => Promise.race([aborted, stored]).finally(stop).then(succeed, fail),
  };
}
