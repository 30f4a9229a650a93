import type { Abortable, CompositeSessionKey } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/** Number of sessions in a page of the list. */
const PAGE_SIZE = 100;

/** Selects the sessions of an app, or of one user of it. */
export interface SessionsRequest extends Abortable {
  readonly appName: string;
  /** Absent: all users. */
  readonly userId?: string | undefined;
}

/**
 * Yields the key of each session once, page by page, in order of `lastUpdateTime`.
 *
 * The list may change meanwhile: an updated session moves to its end and the sessions behind it move up, so
 * the next page would skip some. So each page overlaps the one before by one session. If that session is not
 * on the page at its old time, the page is read again from further up. At a later time it tells nothing: it
 * may itself have moved to the end. Keys that were yielded before are skipped.
 */
export async function* listSessionKeys(
  service: BaseSessionService,
  { appName, userId: onlyUser, signal }: SessionsRequest,
): AsyncGenerator<CompositeSessionKey, void> {
  const yielded = new Set<string>();
  let lastPlace: string | undefined;
  let offset = 0;
  for (;;) {
    const { sessions } = await service.listSessions({
      appName,
      userId: onlyUser,
      order: 'asc',
      limit: PAGE_SIZE,
      offset,
      withTotal: false,
      stateKeys: [],
      signal,
    });
    const places = sessions.map(({ userId, id, lastUpdateTime }) =>
      JSON.stringify([userId, id, lastUpdateTime]),
    );
    if (offset > 0 && !places.includes(lastPlace ?? '')) {
      offset = Math.max(0, offset - PAGE_SIZE + 1);
      continue;
    }
    for (const { userId, id: sessionId } of sessions) {
      const name = JSON.stringify([userId, sessionId]);
      if (yielded.has(name)) continue;
      yielded.add(name);
      yield { appName, userId, sessionId };
    }
    if (sessions.length < PAGE_SIZE) return;
    lastPlace = places.at(-1);
    offset += sessions.length - 1;
  }
}
