/**
 * The Storage Buckets API of Chromium, as far as it is used here. Each bucket has an IndexedDB with files of
 * its own. TypeScript has no types for it yet.
 */
export interface Buckets {
  keys(): Promise<string[]>;
  open(name: string): Promise<{ readonly indexedDB: IDBFactory }>;
}

/** Name of the bucket that holds all mirrors of an origin. */
export const BUCKET = 'adk-session-wasm';

/** Returns the Storage Buckets API; `undefined` if there is none. */
export function bucketsOf(): Buckets | undefined {
  // Node 20 has no navigator.
  return (globalThis.navigator as { storageBuckets?: Buckets } | undefined)?.storageBuckets;
}
