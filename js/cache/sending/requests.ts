import { isRefusal, failureOf, type RemoteCall, type RemoteEnd } from '../copies/remote_end.js';
import type { Lease } from '../records/lease.js';
import type { CacheKey } from '../records/status.js';
import type { Unsent } from '../copies/unsent.js';

/** The sender's way to the remote. Each request needs the lease. */
export class Requests {
  readonly #lease: Lease;
  readonly #remote: RemoteEnd;
  readonly #unsent: Unsent;

  constructor(lease: Lease, remote: RemoteEnd, unsent: Unsent) {
    this.#lease = lease;
    this.#remote = remote;
    this.#unsent = unsent;
  }

  /** @throws LEASE_LOST, or the remote's error */
  async ask<T>(run: RemoteCall<T>): Promise<T> {
    await this.#lease.extend();
    return this.#remote.ask(run);
  }

  /** Like {@link ask}. Returns `undefined` if the remote refused, and the session or state was set aside. */
  async askOrSetAside<T>(
    key: CacheKey,
    run: RemoteCall<T>,
  ): Promise<{ readonly value: T } | undefined> {
    try {
      return { value: await this.ask(run) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#unsent.setAside(key, failureOf(error));
      return undefined;
    }
  }
}
