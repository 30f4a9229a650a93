/** What only the storages of this package do: those of databases and of Vertex AI. */
import type { Event } from '../../values/model/event/event.js';
import type { StorageReadRequest } from './requests.js';
import type { Rows } from './rows.js';
import type { CreateWrite, DescribeWrite } from '../write.js';
import type { Storage } from './storage.js';
import type { StoreTraits } from './store.js';

/** A storage of this package. Each {@link Storage} is one that does none of this. */
export interface OwnStorage extends Storage {
  readonly traits?: StoreTraits;
  /** Returns the verbs for one write that describes a session, if they take more of it than their requests have. */
  describing?(write: CreateWrite | DescribeWrite): Pick<Storage, 'create' | 'describe'>;
  /** Called once, before the first verb: `tell` reports a connection that is lost while no call uses it. */
  onConnectionLost?(tell: (error: unknown) => void): void;
  /** Like `read`, with parsed events. Returns `undefined` if one cannot be parsed; `read` follows and tells why. */
  readParsed?(
    request: StorageReadRequest,
  ): ParsedRows | undefined | Promise<ParsedRows | undefined>;
}

/** The rows that a read returned, with parsed events. */
export interface ParsedRows extends Omit<Rows, 'events'> {
  /** They belong to the caller alone. */
  readonly events: Event[];
}

/** What a service tells of its storage before that is loaded. */
export type StorageFacts = Pick<OwnStorage, 'kind' | 'durable' | 'traits'>;
