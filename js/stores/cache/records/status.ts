import { makeDisposable } from '../../../core/call/lifetime.js';
import { reportUncaught } from '../../../core/call/diagnostics.js';
import { isEqualJson } from '../../../values/json/equal.js';
import type { SessionErrorCode, SessionErrorFields } from '../../../values/errors/errors.js';
import type { DataLoss } from '../../../values/model/storage_info.js';
import type { CacheKey } from './cache_key.js';

/** The number of changes of one session or shared state that the remote has not confirmed. */
export interface PendingChanges {
  /** The session or the shared state. */
  readonly key: CacheKey;
  /** Unsent events. 0 if only something else waits: a creation, a title, a deletion or a state. */
  readonly events: number;
}

/** A failure in the background. */
export interface CacheFailure extends Omit<SessionErrorFields, 'cause'> {
  /** The code of the error. The other members are those of the error, where it has them. */
  readonly code: SessionErrorCode;
  /** What was wrong. It holds no token and no password. */
  readonly message: string;
  /** The code of what an agent threw, if the code is `run_failed`. */
  readonly cause?:
    | {
        /** The code of the agent's error, or `unknown`. */
        readonly code: string;
      }
    | undefined;
}

/** The loss of the local data: the browser has deleted them. */
export interface CacheLoss extends DataLoss {
  /** The number of unsent events that are lost. What an open tab still had was stored again, and does not count. */
  readonly events: number;
}

/** What a cache is doing, alike in all tabs with its owner. Each change makes a new object. */
export interface CacheStatus {
  /** Whether the last request of any tab reached the remote. `true` before the first one. */
  readonly isOnline: boolean;
  /** Whether the remote wants another login. What is unsent waits for it. */
  readonly isSignedOut: boolean;
  /** Whether one of the tabs is sending. */
  readonly isSending: boolean;
  /** The sessions and states with changes that wait, those that were set aside included. */
  readonly pending: readonly PendingChanges[];
  /** When a request to the remote last succeeded, in milliseconds since 1970. */
  readonly lastSuccess?: number;
  /** The last failure in the background. Absent after a request that succeeds after one that failed. */
  readonly lastError?: CacheFailure;
  /** The last loss of the local data, until `acknowledgeLoss` is called. */
  readonly lost?: CacheLoss;
}

/** The part of the status that tabs tell each other. They read the rest from the local storage. */
type SharedStatus = Omit<CacheStatus, 'pending' | 'lost'>;

/** A time in milliseconds, and the tab. The status with the latest version counts in all tabs. */
type StatusVersion = readonly [time: number, tab: string];

export type StatusMessage = readonly [version: StatusVersion, status: SharedStatus];

/** Holds the status of a cache, and notifies its listeners. */
export class StatusBoard {
  #shared: SharedStatus = { isOnline: true, isSignedOut: false, isSending: false };
  #version: StatusVersion = [0, ''];
  #listPending: () => readonly PendingChanges[] = () => [];
  /** Absent after a change, as {@link StatusBoard.status}. */
  #pending: readonly PendingChanges[] | undefined;
  #lost: CacheLoss | undefined;
  /** Absent after a change, until somebody asks: with thousands of sessions that wait, many changes come between. */
  #status: CacheStatus | undefined;
  readonly #tab: string;
  readonly #tell: (message: StatusMessage) => void;
  readonly #listeners = new Set<(status: CacheStatus) => void>();

  /** @param tell tells the other tabs */
  constructor(tab: string, tell: (message: StatusMessage) => void) {
    this.#tab = tab;
    this.#tell = tell;
  }

  /** As in the status, without listing what waits. */
  get isOnline(): boolean {
    return this.#shared.isOnline;
  }

  /** As {@link StatusBoard.isOnline}. */
  get isSignedOut(): boolean {
    return this.#shared.isSignedOut;
  }

  get status(): CacheStatus {
    if (this.#status === undefined) {
      const pending = (this.#pending ??= this.#listPending());
      const lost = this.#lost && { lost: this.#lost };
      // A tab that ended while it was sending has not reset `isSending`.
      const isSending = this.#shared.isSending && pending.length > 0;
      this.#status = Object.freeze({ ...this.#shared, isSending, pending, ...lost });
    }
    return this.#status;
  }

  /** Sets members in all tabs. One that is `undefined` becomes absent. */
  set(changes: { [Name in keyof SharedStatus]?: SharedStatus[Name] | undefined }): void {
    const members = Object.entries({ ...this.#shared, ...changes });
    const shared = Object.fromEntries(members.filter(([, value]) => value !== undefined));
    this.#version = [Math.max(Date.now(), this.#version[0] + 1), this.#tab];
    this.#shared = shared as unknown as SharedStatus;
    this.#publish();
    this.share();
  }

  /** @param list lists what waits */
  setPending(list: () => readonly PendingChanges[]): void {
    this.#listPending = list;
    this.#pending = undefined;
    this.#publish();
  }

  setLost(lost: CacheLoss | undefined): void {
    if (isEqualJson(this.#lost, lost)) return;
    this.#lost = lost;
    this.#publish();
  }

  /** Tells the other tabs, for one that has just opened. */
  share(): void {
    if (this.#version[0] > 0) this.#tell([this.#version, this.#shared]);
  }

  /** Takes the status of another tab, unless this tab has a later one. */
  receive([version, shared]: StatusMessage): void {
    const [[time, tab], [ownTime, ownTab]] = [version, this.#version];
    if (time < ownTime || (time === ownTime && tab <= ownTab)) return;
    this.#version = version;
    this.#shared = shared;
    this.#publish();
  }

  #publish(): void {
    this.#status = undefined;
    for (const listener of this.#listeners) {
      try {
        listener(this.status);
      } catch (error) {
        reportUncaught(error);
      }
    }
  }

  listen(listener: (status: CacheStatus) => void): () => void {
    this.#listeners.add(listener);
    return makeDisposable(
      () => void this.#listeners.delete(listener),
      function () {
        this();
      },
    );
  }

  close(): void {
    this.#listeners.clear();
  }
}
