import { isRefusal, failureOf, type RemoteCall, type RemoteEnd } from '../copies/remote_end.js';
import type { SessionError } from '../../errors/errors.js';
import type { Lease } from '../records/lease.js';
import type { CacheKey } from '../records/status.js';
import type { Unsent } from '../copies/unsent.js';

export type Outcome<T> =
  { readonly value: T; readonly refusal?: undefined } | { readonly refusal: SessionError };

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

  /**
   * Returns the answer of the remote, or its refusal. A failure of the local storage is no refusal.
   *
   * @throws LEASE_LOST, or why the remote does not answer
   */
  async ask<T>(run: RemoteCall<T>): Promise<Outcome<T>> {
    await this.#lease.extend();
    try {
      return { value: await this.#remote.ask(run) };
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      return { refusal };
    }
  }

  /** Like {@link ask}. Returns `undefined` if the remote refused, and the session or state was set aside. */
  async askOrSetAside<T>(
    key: CacheKey,
    run: RemoteCall<T>,
  ): Promise<{ readonly value: T } | undefined> {
    const outcome = await this.ask(run);
    if (outcome.refusal === undefined) return outcome;
    await this.#unsent.setAside(key, failureOf(outcome.refusal));
    return undefined;
  }
}
