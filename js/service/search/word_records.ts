import type { WordRow, WordsOwner } from '../../core/word_rows.js';
import { GroupedQueue } from '../../stores/cache/copies/grouped_queue.js';
import { keysOf, withWords } from '../../stores/indexed_db/word_records.js';

/** The row of a session as it is stored. */
type StoredRow = Pick<WordRow, 'sessionId' | 'title' | 'words'> & {
  readonly version: string;
};

/** The words of the sessions of a database of IndexedDB, one record a session. */
export class WordRecords {
  readonly #name: string;
  readonly #writes = new GroupedQueue<readonly [owner: WordsOwner, rows: readonly StoredRow[]]>(
    async (all) => {
      // Nothing is written after a deletion of the database. Only the next page creates it again.
      await withWords(this.#name, false, (transaction) => {
        const words = transaction.objectStore('words');
        for (const [{ appName, userId }, rows] of all) {
          for (const row of rows) words.put(row, [appName, userId, row.sessionId]);
        }
        return undefined;
      });
    },
  );

  constructor(name: string) {
    this.#name = name;
  }

  /** Reads the rows of a user. */
  async load({ appName, userId }: WordsOwner): Promise<readonly StoredRow[]> {
    const rows = await withWords(this.#name, true, (transaction): IDBRequest<StoredRow[]> =>
      transaction.objectStore('words').getAll(keysOf([appName, userId])),
    );
    return rows ?? [];
  }

  /** Reads the ids of the sessions of a user that were added to a memory. */
  async marks({ appName, userId }: WordsOwner): Promise<ReadonlySet<string>> {
    const keys = await withWords(
      this.#name,
      false,
      (transaction) =>
        transaction.objectStore('marks').getAllKeys(keysOf([appName, userId])) as IDBRequest<
          string[][]
        >,
    );
    return new Set(keys?.map(([, , sessionId]) => sessionId!));
  }

  async mark({ appName, userId, sessionId }: WordsOwner & { sessionId: string }): Promise<void> {
    await withWords(this.#name, true, (transaction) =>
      transaction.objectStore('marks').put(true, [appName, userId, sessionId]),
    );
  }

  /** Writes rows. Those that wait meanwhile are written together. */
  put(owner: WordsOwner, rows: readonly StoredRow[]): Promise<void> {
    return this.#writes.call('', [owner, rows]);
  }

  /** Erases the rows and the marks of sessions that are gone. */
  async erase({ appName, userId }: WordsOwner, sessionIds: readonly string[]): Promise<void> {
    await withWords(this.#name, false, (transaction) => {
      for (const sessionId of sessionIds) {
        for (const store of ['words', 'marks']) {
          transaction.objectStore(store).delete([appName, userId, sessionId]);
        }
      }
      return undefined;
    });
  }
}
