/** Reads and writes the note in a new database; see {@link CreationNote}. */
import type { DataLoss } from '../model/session_service.js';
import { CREATION, type CreationNote, META } from './layout.js';
import { answer, completion, openingFailure, withDatabase } from './requests.js';

/** The note of one database, in a connection of its own: a mirror has no part in it. */
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
      return answer(request as IDBRequest<CreationNote | undefined>, this.#timeout);
    });
  }

  /**
   * Stores the loss, or deletes the note if there was none. Does nothing if another tab was first.
   *
   * @returns whether this call stored the loss
   */
  async settle(loss: DataLoss | undefined): Promise<boolean> {
    let isFirst = false;
    await this.#write((store) => {
      const request = store.get(CREATION) as IDBRequest<CreationNote | undefined>;
      request.onsuccess = () => {
        const note = request.result;
        if (note === undefined || note.loss !== undefined) return;
        isFirst = loss !== undefined;
        if (loss === undefined) store.delete(CREATION);
        else store.put({ ...note, loss });
      };
    });
    return isFirst;
  }

  delete(): Promise<void> {
    return this.#write((store) => store.delete(CREATION));
  }

  #write(write: (store: IDBObjectStore) => unknown): Promise<void> {
    return this.#withDatabase((database) => {
      const transaction = database.transaction(META, 'readwrite', { durability: 'strict' });
      write(transaction.objectStore(META));
      return completion(transaction, this.#timeout);
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
