/** What only the storages of this package do: those of databases and of Vertex AI. */
import type { Event } from '../../values/model/event/event.js';
import type { StorageReadRequest } from './requests.js';
import type { Rows } from './rows.js';
import type { Storage } from './storage.js';

/** A storage of this package. Each {@link Storage} is one that does none of this. */
export interface OwnStorage extends Storage {
  /** Whether sessions can expire. Otherwise `ttl` and `expireTime` fail with `unsupported`. */
  readonly expires?: boolean;
  /**
   * Whether each write applies its {@link StorageWriteRequest.operation} once: it fails with `refuseApplied` if it was
   * applied before. Otherwise a write that is sent twice is told by its events.
   */
  readonly keepsOperations?: boolean;
  /**
   * Whether other programs may write between the requests of a verb. A function as `stateDelta` then fails with
   * `unsupported`. A session that was created with events is read again: their revisions may be later than decided.
   */
  readonly lacksTransactions?: boolean;
  /** Called once, before the first verb: `tell` reports a connection that is lost while no call uses it. */
  onConnectionLost?(tell: (error: unknown) => void): void;
  /** Like `read`, with parsed events. Returns `undefined` if one cannot be parsed; `read` follows and tells why. */
  readParsed?(
    request: StorageReadRequest,
  ): ParsedRows | undefined | Promise<ParsedRows | undefined>;
  /**
   * Whether `readPage` reads all events after the place of the page, or after the page. A walk through them then asks
   * for all at once, by `isToEnd`.
   */
  readonly readsBack?: boolean;
  /** Whether the storage removes a key of a state whose value is `null`. */
  readonly removesNull?: boolean;
}

/** The rows that a read returned, with parsed events. */
export interface ParsedRows extends Omit<Rows, 'events'> {
  /** They belong to the caller alone. */
  readonly events: Event[];
}

/** What a service tells of its storage before that is loaded. */
export type StorageFacts = Pick<OwnStorage, 'kind' | 'durable' | 'expires' | 'removesNull'>;
