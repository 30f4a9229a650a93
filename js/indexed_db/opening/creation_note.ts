/** Reads and writes the note in a new database; see {@link CreationNote}. */
import type { DataLoss } from '../../model/storage_info.js';
import { CREATION, type CreationNote, META } from '../layout.js';
import { resultOf, completion, openingFailure, withDatabase } from '../requests.js';

/** The note of one database, in a connection of its own. */
export class StoredNote {
  readonly #name: string;
  /** Timeout of a request or transaction, in milliseconds. */
  readonly #timeout: number;

  constructor(name: string, timeout: number) {
    this.#name = name;
    this.#timeout = timeout;
  }

  read(): Promise<CreationNote | undefined> {
    return this.#withDatabase((database) => {
      const request = database.transaction(META).objectStore(META).get(CREATION);
      return resultOf(request as IDBRequest<CreationNote | undefined>, this.#timeout);
    });
  }

  /**
   * Stores the loss, or deletes the note if there was none. Does nothing if another tab was first.
   *
   * @returns whether this call stored the loss
   */
  settle(loss: DataLoss | undefined): Promise<boolean> {
    let put: DataLoss | undefined;
    return this.#write(async (store) => {
      const request = store.get(CREATION) as IDBRequest<CreationNote | undefined>;
      const note = await resultOf(request, this.#timeout);
      if (note === undefined) return false;
      // If the page was left during the commit, this runs again and may find what it has put itself.
      if (note.loss !== undefined) return note.loss.when === put?.when;
      if (loss === undefined) {
        store.delete(CREATION);
        return false;
      }
      store.put({ ...note, loss });
      put = loss;
      return true;
    });
  }

  async delete(): Promise<void> {
    await this.#write((store) => store.delete(CREATION));
  }

  /** Resolves with the result of `write` once its transaction is complete. */
  #write<T>(write: (store: IDBObjectStore) => T | Promise<T>): Promise<T> {
    return this.#withDatabase(async (database) => {
      const transaction = database.transaction(META, 'readwrite', { durability: 'strict' });
      const completed = completion(transaction, this.#timeout);
      // If `write` fails, its error is the one to report.
      completed.catch(() => undefined);
      const result = await write(transaction.objectStore(META));
      await completed;
      return result;
    });
  }

  async #withDatabase<T>(run: (database: IDBDatabase) => Promise<T>): Promise<T> {
    try {
      return await withDatabase(this.#name, this.#timeout, run);
    } catch (cause) {
      throw openingFailure(`The database "${this.#name}"`, cause);
    }
  }
}
