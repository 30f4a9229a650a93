import type {
  LookRequest,
  Looked,
  LookedSession,
  WordRow,
  WordRows,
  WordsOwner,
} from '../../core/storage/word_rows.js';
import { CUT } from '../../core/storage/word_rows.js';
import { putLast } from '../../values/bounded_map.js';
import type { Session } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';

/** The most users whose words are in memory. The user who searched least recently is forgotten first. */
const MAX_USERS = 100;
/** The sessions that are listed at once. */
const LISTED = 1000;

/** A user's sessions as they were last listed, and their rows. */
interface UserRows {
  listed: readonly Session[];
  readonly rows: Map<string, WordRow>;
}

/** The words of the users who search, in the memory of this process. */
export class ProcessWords implements WordRows {
  readonly #service: SessionService;
  readonly #users = new Map<string, UserRows>();

  constructor(service: SessionService) {
    this.#service = service;
  }

  #of({ appName, userId }: WordsOwner): UserRows {
    const name = JSON.stringify([appName, userId]);
    const user = this.#users.get(name) ?? { listed: [], rows: new Map<string, WordRow>() };
    putLast(this.#users, name, user, MAX_USERS);
    return user;
  }

  async list({ appName, userId }: WordsOwner): Promise<void> {
    const listed = new Map<string, Session>();
    const list = { appName, userId, limit: LISTED, stateKeys: [] };
    for await (const session of this.#service.sessions(list)) listed.set(session.id, session);
    const user = this.#of({ appName, userId });
    user.listed = [...listed.values()];
    for (const sessionId of user.rows.keys()) {
      if (!listed.has(sessionId)) user.rows.delete(sessionId);
    }
  }

  look(request: LookRequest): Promise<Looked> {
    const { listed, rows } = this.#of(request);
    const { needles, least } = request;
    const sessions: LookedSession[] = [];
    for (const session of listed) {
      const { id: sessionId, title, labels = {}, lastUpdateTime } = session;
      const row = rows.get(sessionId);
      const version = this.#service.revisionOf(session) ?? lastUpdateTime;
      const isStale = row?.version !== version || row.title !== title;
      const count = countIn(row?.words ?? '', needles);
      const found = count >= least ? count : 0;
      if (!isStale && found === 0) continue;
      const facts = { sessionId, title, labels, lastUpdateTime, version };
      sessions.push({ ...facts, isStale, found, since: row?.revision });
    }
    return Promise.resolve({
      sessions,
      isWhole: ![...rows.values()].some(({ words }) => words.startsWith(CUT)),
    });
  }

  read({
    sessionIds,
    ...owner
  }: WordsOwner & { readonly sessionIds: readonly string[] }): Promise<Map<string, string>> {
    const { rows } = this.#of(owner);
    return Promise.resolve(
      new Map(sessionIds.map((sessionId) => [sessionId, rows.get(sessionId)?.words ?? ''])),
    );
  }

  write({ rows, ...owner }: WordsOwner & { readonly rows: readonly WordRow[] }): Promise<void> {
    const { rows: own } = this.#of(owner);
    for (const row of rows) own.set(row.sessionId, row);
    return Promise.resolve();
  }
}

/** Returns how many of the needles a text contains. */
export function countIn(words: string, needles: readonly string[]): number {
  return needles.filter((needle) => words.includes(needle)).length;
}
