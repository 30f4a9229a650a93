import {
  newestFirst,
  type LookedSession,
  type WordRow,
  type WordRows,
  type WordsOwner,
} from '../../core/word_rows.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { HiddenMembers } from '../../values/model/diagnostic.js';
import { Pauses } from './pauses.js';
import { readSession } from './session_reading.js';
import { addEvents, draftOf, rowOf, storedDraft } from './word_row.js';

/** The sessions that are read at once, and whose rows are written at once. */
const READS = 16;
/** How often a session is read that others write to meanwhile. */
const ATTEMPTS = 3;

/** What a reading of a session gives. */
type ReadRow = WordRow | 'gone' | 'unread';

/** Brings the rows of one user up to date. */
export class CatchUp {
  readonly #service: SessionService;
  readonly #owner: WordsOwner;
  readonly #rows: WordRows;
  readonly #reads: HiddenMembers['reads'];
  readonly #pauses = new Pauses();
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;

  constructor(
    service: SessionService,
    owner: WordsOwner,
    rows: WordRows,
    reads: HiddenMembers['reads'],
  ) {
    this.#service = service;
    this.#owner = owner;
    this.#rows = rows;
    this.#reads = reads;
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#next === undefined;
  }

  /** Resolves once the rows have all that was stored before the call, to `false` if a session lacks its row. */
  run(): Promise<boolean> {
    // A pass that has begun may have looked before a write of the caller.
    return (this.#next ??= Promise.resolve(this.#running)
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        const running = this.#renew().finally(() => {
          if (this.#running === running) this.#running = undefined;
        });
        return (this.#running = running);
      }));
  }

  async #renew(): Promise<boolean> {
    const release = await this.#rows.list?.(this.#owner, this.#reads);
    return this.#renewStale().finally(() => release?.());
  }

  async #renewStale(): Promise<boolean> {
    const isInDatabase = this.#rows.list === undefined;
    let isComplete = true;
    const look = { ...this.#owner, needles: [], least: 1, isRemembered: false };
    const { sessions } = await this.#rows.look(look);
    const stale = sessions.filter(({ isStale }) => isStale).sort(newestFirst);
    for (let start = 0; start < stale.length; start += READS) {
      const some = stale.slice(start, start + READS);
      const read = await Promise.all(
        some.map(async (session) => {
          const row = await this.#read(session, isInDatabase);
          // A transaction for many rows is faster. Elsewhere no session waits for a slow one.
          return isInDatabase || (await this.#write([row])) ? row : 'unread';
        }),
      );
      if (isInDatabase && !(await this.#write(read))) {
        // One row may be the reason. The others are written without it.
        for (const row of read) if (!(await this.#write([row]))) isComplete = false;
      }
      isComplete &&= !read.includes('unread');
    }
    return isComplete;
  }

  /** Returns whether the rows are written. If not, for example on a full disk, those of before are still searched. */
  async #write(read: readonly ReadRow[]): Promise<boolean> {
    const rows = read.filter((row) => typeof row === 'object');
    if (rows.length === 0) return true;
    const writing = this.#rows.write({ ...this.#owner, rows });
    return writing.then(
      () => true,
      () => false,
    );
  }

  /**
   * Reads the words of a session. If that cannot be read, the next search tries again.
   *
   * @param isCounted whether the row keeps the number of its events: by it a database finds that an event was stored
   *   with an earlier time than the changes are read from
   */
  async #read(session: LookedSession, isCounted: boolean): Promise<ReadRow> {
    try {
      const { since } = session;
      const added = since === undefined ? undefined : await this.#readChanges(session, since);
      return added ?? (await this.#readAll(session, isCounted));
    } catch {
      return 'unread';
    }
  }

  /** Adds what has changed to a row. Returns `undefined` if the session has to be read as a whole. */
  async #readChanges(session: LookedSession, since: number): Promise<WordRow | undefined> {
    const { sessionId, eventCount } = session;
    const stored = await this.#rows.read({ ...this.#owner, sessionIds: [sessionId] });
    const before = stored.get(sessionId);
    if (before === undefined) return undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const request = { ...this.#owner, sessionId, since };
      const changes = await this.#service.listChanges(request).catch(() => undefined);
      // They are absent too if the session was created again.
      if (changes?.events === undefined) return undefined;
      const { revision, events } = changes;
      const written = events.map(({ event }) => event);
      const { draft, newCount } = await addEvents(storedDraft(before), written, this.#pauses);
      if (eventCount === undefined) return rowOf(session, draft, { revision, eventCount });
      const count = await this.#count(sessionId);
      // If they differ, an event was stored meanwhile, or with a time before those of the changes.
      if (eventCount + newCount === count) {
        return rowOf(session, draft, { revision, eventCount: count });
      }
    }
    return undefined;
  }

  async #count(sessionId: string): Promise<number | undefined> {
    const page = { ...this.#owner, sessionId, limit: 1, withCount: true, skipCorrupt: true };
    return (await this.#service.listEvents(page)).eventCount;
  }

  async #readAll(session: LookedSession, isCounted: boolean): Promise<ReadRow> {
    const request = { ...this.#owner, sessionId: session.sessionId };
    const options = { view: 'raw', reads: this.#reads, isCounted } as const;
    const reading = await readSession(this.#service, request, options, this.#pauses);
    if (reading === undefined) return 'gone';
    const { eventCount } = reading;
    const draft = await draftOf(reading.events(), this.#pauses);
    // The copy lacks older events. They are read once there is a connection.
    if (!reading.isWhole) {
      const unknown = { revision: undefined, eventCount };
      return rowOf({ ...session, version: undefined }, draft, unknown);
    }
    const revision = this.#service.revisionOf(reading.session);
    return rowOf(session, draft, { revision, eventCount });
  }
}
