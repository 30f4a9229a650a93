/** The loss of a database: the browser has deleted it with all its sessions. */
export interface DataLoss {
  /** When the loss was noticed, in milliseconds since 1970. */
  when: number;
  /** A sentence that names the database and the reason of its loss, if that is known. */
  message: string;
}

/** Describes where a service keeps its data. */
export interface StorageInfo {
  /** `'memory'`, `'indexeddb'`, the storage's own `kind`, or `'custom'` for a storage without one. */
  kind: string;
  /** Whether the data outlives the process or page. */
  durable: boolean;
  /** Why `'auto'` uses memory. */
  reason?: string | undefined;
  /** Over IndexedDB: the loss that this page noticed when it opened the database. */
  lost?: DataLoss | undefined;
}

/** The options of `close`. */
export interface CloseOptions {
  /**
   * Milliseconds after which the close no longer waits for pending calls. The storage is then closed under these
   * calls, and they fail, mostly with `connection_lost` or `closed`.
   *
   * Default: databases, Vertex AI and other servers end their calls by limits of their own. Over other storages,
   * such as a storage of your own, the close waits 30 seconds. Then it closes the storage and rejects with
   * `storage_failed`, which names the pending calls.
   */
  timeoutMs?: number | undefined;
}
