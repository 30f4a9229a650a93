/**
 * Deletes the sessions of a list, oldest first. Each deletion is one transaction, and deletes only a session
 * that has not changed since it was listed.
 */
import { comparePlaces } from '../storage/list_place.js';
import type { ListedSession } from '../storage/session_store.js';
import type { StorageCall } from '../model/diagnostic.js';
import type { MaybePromise } from '../call/call.js';

/** The sessions of one page. A page is read without a pause, so it must not take long. */
const PAGE = 100;

/** The milliseconds of work after which others get their turn. */
const SLICE_MS = 10;

/** The owner of the listed sessions. */
export interface Owner {
  readonly appName: string;
  readonly userId: string | undefined;
}

/** A session that is listed by its last update, so at least this time is not damaged. */
export interface Listed extends ListedSession {
  readonly lastUpdateTime: number;
}

/** What a walk needs of a service. */
export interface WalkedSessions {
  /** Lists sessions by their last update. */
  list(
    owner: Owner,
    order: 'asc' | 'desc',
    offset: number,
    limit: number,
    call: StorageCall,
  ): MaybePromise<readonly Listed[]>;
  /** Deletes a session if it has not changed since it was listed. Returns whether it was deleted. */
  deleteUnchanged(appName: string, session: Listed, call: StorageCall): MaybePromise<boolean>;
}

/** How a walk goes through the sessions. */
export interface Walk {
  readonly owner: Owner;
  readonly call: StorageCall;
  /** Returns whether to delete a session. `undefined` ends the walk. */
  readonly choose: (session: Listed) => boolean | undefined;
  /** Lets others run. */
  readonly pause: () => Promise<void>;
  /** Called before each session. Throws to end the walk. */
  readonly step?: (() => void) | undefined;
  /** Called after each page with the number of sessions that are deleted so far. */
  readonly onPage?: ((deleted: number) => void) | undefined;
}

/**
 * Walks from the oldest session to the newest, and deletes those that are chosen.
 *
 * A page begins after the sessions that were kept. Others may move or delete some of these meanwhile: then
 * sessions that were not seen stand before the page, and the page before it is read again.
 *
 * @returns the number of deleted sessions
 */
export async function deleteOldest(sessions: WalkedSessions, walk: Walk): Promise<number> {
  const { owner, call, choose, step } = walk;
  const turn = takeTurns(walk.pause);
  let deleted = 0;
  let reported = 0;
  let start = 0;
  let last: Listed | undefined;
  for (;;) {
    step?.();
    const page = await sessions.list(owner, 'asc', start, PAGE, call);
    // The page begins with the last session that was kept, so that a move shows.
    const [first] = page;
    if (start > 0 && (first === undefined || isAfter(first, last))) {
      start = Math.max(0, start - PAGE);
      continue;
    }
    let kept = 0;
    for (const session of page) {
      if (!isAfter(session, last)) {
        kept += 1;
        continue;
      }
      step?.();
      const isWanted = choose(session);
      if (isWanted === undefined) {
        report();
        return deleted;
      }
      last = session;
      if (!isWanted) kept += 1;
      else if (await sessions.deleteUnchanged(owner.appName, session, call)) deleted += 1;
      await turn();
    }
    report();
    if (page.length < PAGE) return deleted;
    start = Math.max(0, start + kept - 1);
  }

  function report(): void {
    if (deleted === reported) return;
    reported = deleted;
    walk.onPage?.(deleted);
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

/** Returns whether a session stands after another one in a list. */
export function isAfter(one: Listed, other: Listed | undefined): boolean {
  return other === undefined || comparePlaces('asc', one, other) > 0;
}
