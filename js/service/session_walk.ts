/**
 * Deletes the sessions of a list, oldest first. Each deletion is one transaction, and deletes only a session
 * that has not changed since it was listed.
 */
import type { ListedSession, ListPageRequest } from '../storage/session_store.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { MaybePromise } from '../call/call.js';

/** The sessions of one page. A page is read without a pause, so it must not take long. */
export const PAGE = 100;

/** The milliseconds of work after which others get their turn. */
const SLICE_MS = 10;

/** The owner of the listed sessions. */
export interface Owner {
  readonly appName: string;
  readonly userId: string | undefined;
}

/** A session that may be deleted if it has not changed. A damaged one has no revision. */
export type DeletableSession = Pick<ListedSession, 'userId' | 'sessionId' | 'labels'> & {
  readonly revision: number | undefined;
};

/** The page to list. */
export type WalkedPage = Partial<Pick<ListPageRequest, 'offset' | 'after' | 'terms'>> &
  StorageCall & { readonly limit: number };

/** What a walk needs of a service. */
export interface WalkedSessions {
  /** Lists sessions by their last update. After a place it may list more than `limit`; see `SessionStore`. */
  list(
    owner: Owner,
    order: 'asc' | 'desc',
    page: WalkedPage,
  ): MaybePromise<readonly ListedSession[]>;
  /** Deletes a session if it has not changed since it was listed. Returns whether it was deleted. */
  deleteUnchanged(
    appName: string,
    session: DeletableSession,
    call: StorageCall,
  ): MaybePromise<boolean>;
}

/** How a walk goes through the sessions. */
export interface Walk {
  readonly owner: Owner;
  readonly call: StorageCall;
  /** Terms that each chosen session has, if the walk may leave out those without; see `ListPageRequest`. */
  readonly terms?: readonly string[] | undefined;
  /** Returns whether to delete a session. `undefined` ends the walk. */
  readonly choose: (session: ListedSession) => boolean | undefined;
  /** Lets others run. */
  readonly pause: () => Promise<void>;
  /** Called before each session. Throws to end the walk. */
  readonly step?: (() => void) | undefined;
  /**
   * Called with the number of sessions that are deleted so far: after each {@link PAGE} of them, and at the end,
   * also of a walk that fails.
   */
  readonly onBatch?: ((deleted: number) => void) | undefined;
}

/**
 * Walks from the oldest session to the newest, and deletes those that are chosen. A session that is updated
 * meanwhile moves to a place that is yet to come.
 *
 * @returns the number of deleted sessions
 */
export async function deleteOldest(sessions: WalkedSessions, walk: Walk): Promise<number> {
  const { owner, call, terms, choose, step } = walk;
  const turn = takeTurns(walk.pause);
  let deleted = 0;
  let after: ListedSession | undefined;
  try {
    for (;;) {
      step?.();
      const page = await sessions.list(owner, 'asc', { limit: PAGE, after, terms, ...call });
      let isEnd = page.length < PAGE;
      for (const session of page) {
        step?.();
        const isWanted = choose(session);
        isEnd ||= isWanted === undefined;
        if (isWanted === undefined) break;
        if (isWanted && (await sessions.deleteUnchanged(owner.appName, session, call))) {
          deleted += 1;
          if (deleted % PAGE === 0) walk.onBatch?.(deleted);
        }
        await turn();
      }
      if (isEnd) return deleted;
      after = page.at(-1);
    }
  } finally {
    if (deleted % PAGE > 0) walk.onBatch?.(deleted);
  }
}

/** Returns a function that pauses once enough work was done since the last pause. */
export function takeTurns(pause: () => Promise<void>): () => Promise<void> | undefined {
  let begin = performance.now();
  return () => {
    if (performance.now() - begin < SLICE_MS) return undefined;
    return pause().then(() => {
      begin = performance.now();
    });
  };
}
