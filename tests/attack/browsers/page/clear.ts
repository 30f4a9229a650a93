// Empties a database between two cases.

import { completion, withDatabase } from '../../../browser/indexed_db/page/bare.js';

/** Empties a database, so that the next case finds it as new. */
export function clear(name: string): Promise<void> {
  return withDatabase(name, (database) => {
    const stores = [...database.objectStoreNames];
    const transaction = database.transaction(stores, 'readwrite');
    for (const store of stores) transaction.objectStore(store).clear();
    return completion(transaction);
  });
}
