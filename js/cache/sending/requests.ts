import { failureOf, isRefusal, type RemoteCall, type RemoteEnd } from '../copies/remote_end.js';
import type { Lease } from '../records/lease.js';
import type { Refusal } from '../records/session_record.js';

/** Thrown when the remote will never accept a change. The session or state is then set aside. */
export class RemoteRefusal extends Error {
  readonly refusal: Refusal;

  /** @param cause the error of the remote */
  constructor(refusal: Refusal, cause?: Error) {
    super(refusal.message, { cause });
    this.refusal = refusal;
  }
}

/** The sender's way to the remote. Each request needs the lease. */
export class Requests {
  readonly #lease: Lease;
  readonly #remote: RemoteEnd;

  constructor(lease: Lease, remote: RemoteEnd) {
    this.#lease = lease;
    this.#remote = remote;
  }

  /**
   * Asks the remote. A failure of the local storage is no refusal.
   *
   * @throws LEASE_LOST; RemoteRefusal; or why the remote does not answer
   */
  async ask<T>(run: RemoteCall<T>): Promise<T> {
    await this.#lease.extend();
    try {
      return await this.#remote.ask(run);
    } catch (error) {
      throw isRefusal(error) ? new RemoteRefusal(failureOf(error), error) : error;
    }
  }
}
