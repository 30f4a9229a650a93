import type { SessionError } from '../errors.js';
import type { StorageAdapter, StorageKey } from './adapter.js';

/** An adapter of this package's, whose rows need no check. */
export interface OwnAdapter extends StorageAdapter {
  /** Adds to the refusal of an append what only the storage can tell of it. */
  explain(error: SessionError, key: Required<StorageKey>): SessionError;
}
