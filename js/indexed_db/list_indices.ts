import type { ListIndices } from '../storage/core_store.js';
import { completingCreateTimes } from './create_times.js';
import { type SessionRecord, toListed } from './listed_records.js';

/** Returns what lists over that database need beside the core. */
export function listIndices(name: string, timeout: number): ListIndices {
  return {
    completeCreateTimes: completingCreateTimes(name, timeout),
    toListed: (records) => (records as readonly SessionRecord[]).map(toListed),
  };
}
