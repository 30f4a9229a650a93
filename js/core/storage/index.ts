/**
 * The interface of a storage, for storages of your own, and the types of its requests and rows. All are types.
 *
 * The rules are in `docs/writing_a_storage.md`. `adk-session-wasm/testing` tests a storage.
 *
 * @module adk-session-wasm/storage
 */
export type { Storage } from './storage.js';
export type {
  Decide,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageEventsRequest,
  StorageListRequest,
  StorageMarkersRequest,
  StoragePageRequest,
  StorageReadRequest,
  StorageWrite,
  StorageWriteRequest,
} from './requests.js';
export type {
  Changes,
  Deleted,
  EventRow,
  Found,
  FoundEvents,
  Listing,
  MarkerRows,
  PageRows,
  Rows,
  SessionRow,
  SharedRow,
  StorageKey,
} from './rows.js';
export type { ChangedRequest, ChangedRows, StateRevision } from './storage.js';
export type { ListTime, TimedPlace } from './list_place.js';
export type { StoredScope } from '../../values/state/scope.js';
export type { Expiry } from '../../values/model/description.js';
export type { StorageCall, MutationId } from '../../values/model/diagnostic.js';
