import { isSessionError } from '../errors/errors.js';
import type { ListIndices } from '../storage/core_store.js';
import { completingCreateTimes } from './create_times.js';
import { type SessionRecord, toListed } from './listed_records.js';

/** Returns what lists over that database need beside the core. */
export function listIndices(name: string, timeout: number): ListIndices {
  return {
    completeCreateTimes: completingCreateTimes(name, timeout),
    toListed: (records) => (records as readonly SessionRecord[]).map(toListed),
    async listByTerms(request) {
      try {
        const terms = await import('./terms.js');
        return await terms.listByTerms(name, timeout, request);
      } catch (error) {
        if (isSessionError(error)) throw error;
        // For example, there is no room for the index. A list in its order needs none, or tells what is wrong.
        return undefined;
      }
    },
  };
}
