import type { SessionError } from '../errors/errors.js';
import type { Event } from '../model/event.js';
import type { ReadRequest, Rows, StorageAdapter, StorageKey } from './adapter.js';

/** What was read for a session's handle. */
export interface OwnRows extends Rows {
  /** The events themselves, which are the reader's alone; `events` is empty then. */
  readonly parsed?: Event[];
}

/** An adapter of this package's, whose rows need no check. */
export interface OwnAdapter extends StorageAdapter {
  /** As `read`, for who wants no texts, but the events. */
  readParsed(request: ReadRequest): OwnRows | Promise<OwnRows>;
  /** The service begins to close: what no server answers shall soon end. `close` follows when all has settled. */
  closing?(): void;
  /** Adds to the refusal of an append what only the storage can tell of it. */
  explain(error: SessionError, key: Required<StorageKey>): SessionError;
}
