import type { SessionRow, StorageKey } from '../../../core/storage/rows.js';
import type { Layout } from './layout.js';
import type { RevisionColumns, Revisions } from './revisions.js';
import { type SessionColumns, sessionRow } from './rows.js';

/** Reads the sessions of a database, and notices those that Python's other service has written. */
export class SessionRows {
  readonly #layout: Layout;
  readonly #revisions: Revisions;
  readonly #onOtherLayout: () => void;

  /** @param onOtherLayout called for each session whose time has the form of the file's other layout */
  constructor(layout: Layout, revisions: Revisions, onOtherLayout: () => void) {
    this.#layout = layout;
    this.#revisions = revisions;
    this.#onOtherLayout = onOtherLayout;
  }

  /** Reads a session. Fails with `corrupt_record` if a time cannot be read. */
  read(key: Required<StorageKey>, columns: SessionColumns & RevisionColumns): SessionRow {
    return this.#revisions.withRevision(this.readListed(key, columns), columns);
  }

  /** Reads a session whose revision nobody needs: `revision` is its `update_time`. Fails like {@link read}. */
  readListed(key: Required<StorageKey>, columns: SessionColumns): SessionRow {
    if (typeof columns.update_time === this.#layout.otherTime) this.#onOtherLayout();
    return sessionRow(key, columns);
  }
}
