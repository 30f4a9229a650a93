import type { StoreTraits } from '../../core/storage/store.js';

/** The traits of every database. They are known before its storage is loaded. */
export const DATABASE_TRAITS = {
  keepsMutations: true,
  readsParts: true,
} as const satisfies StoreTraits;
