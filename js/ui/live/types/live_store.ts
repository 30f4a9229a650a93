/** The members of every live store. They fulfil the store contracts of React's `useSyncExternalStore` and of Svelte. */
export interface LiveStore<Snapshot> {
  /**
   * Calls `listener` with the snapshot: at once, and after changes, at most once a frame. The first subscriber
   * starts reading and watching. After the last one has left, the store has no watch and no timer.
   *
   * @returns a function that ends the subscription
   */
  readonly subscribe: (listener: (snapshot: Snapshot) => void) => () => void;
  /** Returns the snapshot as it is now: the same object until something changes. It is never changed. */
  readonly getSnapshot: () => Snapshot;
  /** Reads once, without a subscription, if nothing has been read yet. Never rejects: see the snapshot's `error`. */
  readonly load: () => Promise<void>;
  /** Reads everything again, for example after an error. Never rejects: see the snapshot's `error`. */
  readonly reload: () => Promise<void>;
}
