import { isSessionError } from '../../errors/errors.js';

/** Makes room for local writes that fail with `quota_exceeded`. */
export class Room {
  readonly #evict: () => Promise<boolean>;

  /** @param evict deletes some copies; returns whether there were any to delete */
  constructor(evict: () => Promise<boolean>) {
    this.#evict = evict;
  }

  /** Writes, and once more after an eviction. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isSessionError(error, 'quota_exceeded') || !(await this.#evict())) throw error;
      return write();
    }
  }
}
