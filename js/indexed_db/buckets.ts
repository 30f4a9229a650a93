/** Storage Buckets (Chromium): each has an IndexedDB whose files are its own. TypeScript does not know them yet. */
export interface Buckets {
  keys(): Promise<string[]>;
  open(name: string): Promise<{ readonly indexedDB: IDBFactory }>;
}

/** The bucket of all mirrors of an origin. */
export const BUCKET = 'adk-session-wasm';

export function bucketsOf(): Buckets | undefined {
  // Node 20 has no navigator.
  return (globalThis.navigator as { storageBuckets?: Buckets } | undefined)?.storageBuckets;
}
