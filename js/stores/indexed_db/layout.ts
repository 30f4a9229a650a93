/**
 * TypeScript's part of IndexedDB: pages that are hidden or restored (`page_hide.ts`), workers that are frozen
 * (`worker_freeze.ts`), blocked openings (`opening.ts`), and lost databases (`loss.ts`). The cache uses it too. Sessions are read and written by Rust, `src/wasm/indexed_db`.
 *
 * This file is the part of IndexedDB's layout that JavaScript knows. `src/wasm/indexed_db/records/schema.rs` owns the
 * layout: it describes all stores, indexes and keys.
 */
import type { DataLoss } from '../../values/model/storage_info.js';

/** The stores of a database. */
export type StoreName = 'sessions' | 'states' | 'events' | 'meta';

/**
 * Stands in a new database. It is deleted once it is clear that no earlier database was lost, or once the lost
 * one was filled again.
 */
export interface CreationNote {
  /** Chromium's message about the loss of an earlier database. */
  readonly message?: string | undefined;
  /** The loss, once it was found and published. */
  readonly loss?: DataLoss;
}

/** Gets the note in a transaction, and returns the new one, `null` to delete it, or `undefined`. */
export type ChangeNote = (note: CreationNote | undefined) => CreationNote | null | undefined;

/** The number of values for each event in the marks of a page: seq, revision, timestamp, end of its text. */
export const MARKS = 4;

/** A record of the store `events`: one event, or a page. Each field may be damaged. */
export interface EventsRecord {
  readonly text?: unknown;
  /** One `"<number>/<event id>"` for each event; the number is the session's. */
  readonly ids?: unknown;
  /** Only in a page: {@link MARKS} numbers for each event. */
  readonly marks?: unknown;
}
