/**
 * The interface of a storage, for adapters of your own, and the types of its requests and rows. All are types.
 *
 * The rules are in `docs/writing_an_adapter.md`. `adk-session-wasm/testing` tests an adapter.
 *
 * @module adk-session-wasm/storage
 */
export type {
  Decide,
  StorageAdapter,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageListAfterRequest,
  StorageListRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWrite,
  StorageWriteRequest,
} from './adapter.js';
export type {
  Changes,
  Deleted,
  EventRow,
  Found,
  Listing,
  PageRows,
  Rows,
  SessionRow,
  SharedRow,
  StorageKey,
} from './rows.js';
export type { ListPlace } from './list_place.js';
export type { StorageCall, StorageOperation } from '../model/diagnostic.js';
