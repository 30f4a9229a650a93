import type { Abortable, CompositeSessionKey } from '../../model/session.js';
import type { BaseSessionService } from '../../model/session_service.js';

/** Sessions listed at once. */
const PAGE = 100;

/** Whose sessions: of an app, or of one user of it. */
export interface SessionsRequest extends Abortable {
  readonly appName: string;
  /** Absent: of all users. */
  readonly userId?: string | undefined;
}

/**
 * Names all sessions once, page by page, those last that were updated last.
 *
 * The list changes meanwhile: a session that is updated moves to its end, and all behind it move up, so
 * that the next page would begin too far down. So each page overlaps the one before by one session, and
 * where that is not on it, it begins earlier. What was named before is not named again.
 */
export async function* sessionKeys(
  service: BaseSessionService,
  { appName, userId: onlyUser, signal }: SessionsRequest,
): AsyncGenerator<CompositeSessionKey, void> {
  const named = new Set<string>();
  let anchor: string | undefined;
  let offset = 0;
  for (;;) {
    const { sessions } = await service.listSessions({
      appName,
      userId: onlyUser,
      order: 'asc',
      limit: PAGE,
      offset,
      withTotal: false,
      signal,
    });
    const page = sessions.map(({ id, userId }) => ({ sessionId: id, userId }));
    const names = page.map(({ sessionId, userId }) => JSON.stringify([userId, sessionId]));
    if (offset > 0 && !names.includes(anchor ?? '')) {
      offset = Math.max(0, offset - PAGE + 1);
      continue;
    }
    for (const [at, key] of page.entries()) {
      const name = names[at] ?? '';
      if (named.has(name)) continue;
      named.add(name);
      yield { appName, ...key };
    }
    if (page.length < PAGE) return;
    anchor = names.at(-1);
    offset += page.length - 1;
  }
}
