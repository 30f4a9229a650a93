/**
 * Where a read looks first. `'cache-first'`: at the local copy, which is then revalidated in the background.
 * `'network-first'`: at the remote, and after `readTimeoutMs` or without a connection at the copy. `'cache-only'`: at
 * the copy, without any request.
 */
export type ReadPolicy = 'cache-first' | 'network-first' | 'cache-only';
