import { isId } from '../model/values/ids.js';
import { requireNotAborted } from '../call/call.js';
import { type KnownOptions, takeOptions } from '../call/known_options.js';
import { isSessionError } from '../errors/errors.js';
import { invalid, invalidValue } from '../errors/invalid.js';
import { requireObject } from '../errors/option_values.js';
import type { RetentionOptions } from '../model/deletion.js';
import type { SessionInfo, SessionInfoRequest } from '../model/session_info.js';
import { putLast } from '../members/bounded_map.js';
import { comparePlaces } from '../storage/list_place.js';
import type { ListedSession } from '../storage/session_store.js';
import {
  deleteOldest,
  type Owner,
  PAGE,
  takeTurns,
  type WalkedPage,
  type WalkedSessions,
} from './session_walk.js';

const OPTIONS: KnownOptions<RetentionOptions> = {
  maxAge: true,
  maxSessions: true,
  maxBytes: true,
};

/** The smallest limits. A smaller one would delete sessions that are being written. */
const LEAST = { maxAge: 60_000, maxSessions: 1, maxBytes: 1 } as const;

/** The milliseconds after which calls of a user make the limits apply again. */
const REPEAT_MS = 60 * 60 * 1000;

/** The milliseconds between two pieces of work where the host does not tell when it is idle. */
const PAUSE_MS = 100;

/** The most users and sessions that are remembered. */
const MOST = 10_000;

/** Only one tab at a time applies limits. */
const LOCK = 'adk-session-wasm retention';

/** What the limits are applied to. */
export interface RetainedSessions extends WalkedSessions {
  info(
    request: SessionInfoRequest,
    pause: () => Promise<void> | undefined,
  ): Promise<Pick<SessionInfo, 'bytes'>>;
  clock(): number;
  /** Told of what fails, since no call does. */
  failed(error: unknown): void;
}

/**
 * Applies the option `retention` while the host is idle: to users that the service is called for, and to all
 * users of their apps.
 *
 * Programs may apply it at the same time. Each decides which sessions are too many from the sessions that are
 * kept, not from those to delete. So none deletes a session that the other one keeps.
 */
export class Retention {
  readonly #limits: RetentionOptions;
  readonly #sessions: RetainedSessions;
  readonly #isShared: boolean;
  /** The users whose sessions are to be looked at, and the last time of that. */
  readonly #due = new Map<string, Owner>();
  readonly #seen = new Map<string, number>();
  /** Sizes of sessions at a revision. */
  readonly #sizes = new Map<string, readonly [revision: unknown, bytes: number]>();
  readonly #stopping = new AbortController();
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  /**
   * @param isShared whether other tabs use the same storage
   * @throws SessionError `invalid_argument` if a limit is invalid
   */
  constructor(options: RetentionOptions, sessions: RetainedSessions, isShared: boolean) {
    this.#limits = takeLimits(options);
    this.#sessions = sessions;
    this.#isShared = isShared;
  }

  /** Called with the request of each call. */
  readonly noteCall = (request: object): void => {
    const { appName, userId } = request as Readonly<Record<string, unknown>>;
    if (!isId(appName) || (userId !== undefined && !isId(userId))) return;
    const name = JSON.stringify([appName, userId]);
    const seen = this.#seen.get(name);
    if (seen === undefined || performance.now() - seen >= REPEAT_MS) this.note({ appName, userId });
  };

  /** Called when there may be more sessions of a user than before. */
  note(owner: Owner): void {
    if (this.#stopping.signal.aborted) return;
    const name = JSON.stringify([owner.appName, owner.userId]);
    this.#due.set(name, owner);
    putLast(this.#seen, name, performance.now(), MOST);
    this.#running ??= this.#run();
  }

  /** Ends the work before the next session. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await this.#idle();
      if (this.#due.size === 0 || signal.aborted) break;
      const due = [...this.#due.values()];
      this.#due.clear();
      await this.#attempt(() => this.#alone(() => this.#apply(due)));
    }
    this.#running = undefined;
  }

  /** Does a part of the work. If it fails, it does not keep the other parts from being done. */
  async #attempt(part: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    try {
      requireNotAborted(signal);
      await part();
    } catch (error) {
      if (!signal.aborted) this.#sessions.failed(error);
    }
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    const locks = this.#isShared ? lockManager() : undefined;
    const { signal } = this.#stopping;
    await (locks === undefined ? work() : locks.request(LOCK, { signal }, work));
  }

  async #apply(due: readonly Owner[]): Promise<void> {
    const { maxAge } = this.#limits;
    if (maxAge !== undefined) {
      // The clock is read for each session: if it is set back meanwhile, new sessions are not old.
      const isOld = ({ lastUpdateTime }: ListedSession) =>
        lastUpdateTime < this.#sessions.clock() - maxAge || undefined;
      for (const appName of new Set(due.map(({ appName }) => appName))) {
        await this.#attempt(() => this.#delete({ appName, userId: undefined }, isOld));
      }
    }
    for (const owner of due) {
      if (owner.userId !== undefined) await this.#attempt(() => this.#deleteExcess(owner));
    }
  }

  async #deleteExcess(owner: Owner): Promise<void> {
    const newest = await this.#newestExcess(owner);
    if (newest === undefined) return;
    await this.#delete(owner, (session) => comparePlaces('asc', session, newest) <= 0 || undefined);
  }

  async #delete(owner: Owner, choose: (session: ListedSession) => true | undefined): Promise<void> {
    const { signal } = this.#stopping;
    const step = (): void => requireNotAborted(signal);
    await deleteOldest(this.#sessions, {
      owner,
      call: { signal },
      choose,
      pause: this.#idle,
      step,
    });
  }

  /** Returns the newest session that is too many. All older ones are too many as well. */
  async #newestExcess(owner: Owner): Promise<ListedSession | undefined> {
    const { maxSessions, maxBytes } = this.#limits;
    const [byNumber] =
      maxSessions === undefined ? [] : await this.#newest(owner, { offset: maxSessions, limit: 1 });
    if (maxBytes === undefined) return byNumber;
    let count = 0;
    let bytes = 0;
    let after: ListedSession | undefined;
    for (;;) {
      const page = await this.#newest(owner, { limit: PAGE, after });
      for (const session of page) {
        if (byNumber && comparePlaces('desc', session, byNumber) >= 0) return byNumber;
        count += 1;
        bytes += await this.#bytesOf(owner, session);
        if (bytes > maxBytes && count > 1) return session;
      }
      if (page.length < PAGE) return byNumber;
      after = page.at(-1);
    }
  }

  async #newest(owner: Owner, page: WalkedPage): Promise<readonly ListedSession[]> {
    return this.#sessions.list(owner, 'desc', { ...page, signal: this.#stopping.signal });
  }

  async #bytesOf({ appName }: Owner, session: ListedSession): Promise<number> {
    const { userId, sessionId, revision } = session;
    const name = JSON.stringify([appName, userId, sessionId]);
    const known = this.#sizes.get(name);
    if (known?.[0] === revision) return known[1];
    const { signal } = this.#stopping;
    const request = { appName, userId, sessionId, skipCorrupt: true, signal };
    // A session that was deleted meanwhile takes no room.
    const { bytes } = await this.#sessions
      .info(request, takeTurns(this.#idle))
      .catch((error: unknown) => {
        if (isSessionError(error, 'not_found')) return { bytes: 0 };
        throw error;
      });
    putLast(this.#sizes, name, [revision, bytes], MOST);
    return bytes;
  }

  /** Waits until the host is idle, or the work has to end. The timer does not keep a program running. */
  readonly #idle = (): Promise<void> =>
    new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#stopping.signal.aborted) resolve();
      else if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve());
      else {
        const timer: unknown = setTimeout(resolve, PAUSE_MS);
        (timer as { unref?(): void }).unref?.();
      }
    });
}

function takeLimits(options: RetentionOptions): RetentionOptions {
  requireObject('retention', options);
  const limits = takeOptions(options, OPTIONS, 'retention.');
  const given = Object.entries(LEAST).filter(
    ([name]) => limits[name as keyof RetentionOptions] !== undefined,
  );
  if (given.length === 0) throw invalid('retention', 'must have a limit; it has none');
  for (const [name, least] of given) {
    const limit: unknown = limits[name as keyof RetentionOptions];
    if (Number.isSafeInteger(limit) && (limit as number) >= least) continue;
    throw invalidValue(`retention.${name}`, `must be a whole number from ${least}`, limit);
  }
  return limits;
}

function lockManager(): LockManager | undefined {
  return (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
}
