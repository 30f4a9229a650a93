import type {
  Decide,
  EventRow,
  Found,
  Listing,
  Rows,
  SessionRow,
  SharedRow,
  Storage,
  StorageDeleteRequest,
  StorageDeleteUnchangedRequest,
  StorageDescribeRequest,
  StorageKey,
  StorageListRequest,
  StorageReadRequest,
  StorageWriteRequest,
} from '../../../js/core/storage/index.js';

interface StoredSession {
  row: SessionRow;
  events: Map<string, EventRow>;
}

/**
 * A slow storage over maps, which runs one verb after the other, like a database. Tests read its maps and replace its
 * verbs.
 */
export class MapStorage implements Storage {
  readonly kind: string = 'map';
  readonly durable: boolean = false;
  readonly sessions: Map<string, StoredSession>;
  readonly scopes: Map<string, SharedRow>;
  floor = 0;
  /** `true` if a test replaces `list` by one that cuts the part. */
  listsParts = false;
  /** Called within each verb, before it reads anything. */
  pause: () => Promise<unknown> | undefined = () => new Promise((done) => setTimeout(done, 0));
  #last: Promise<unknown> = Promise.resolve();

  /** @param other whose data it has */
  constructor(other?: MapStorage) {
    this.sessions = other?.sessions ?? new Map<string, StoredSession>();
    this.scopes = other?.scopes ?? new Map<string, SharedRow>();
  }

  create(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#alone(() => this.write(request, decide));
  }

  append(request: StorageWriteRequest, decide: Decide): void | Promise<void> {
    return this.#alone(() => this.write(request, decide));
  }

  read(request: StorageReadRequest): Rows | Promise<Rows> {
    return this.#alone(() => this.rows(request));
  }

  list(request: StorageListRequest): Listing | Promise<Listing> {
    return this.#alone(() => this.page(request));
  }

  describe({ key, title, labels }: StorageDescribeRequest): boolean | Promise<boolean> {
    return this.#alone(() => {
      const stored = this.sessions.get(sessionName(key));
      if (stored === undefined) return false;
      const { row } = stored;
      stored.row = { ...row, title: title ?? row.title, labels: labels ?? row.labels };
      return true;
    });
  }

  delete(request: StorageDeleteRequest): void | Promise<void> {
    return this.#alone(() => this.remove(request));
  }

  deleteUnchanged(request: StorageDeleteUnchangedRequest): boolean | Promise<boolean> {
    return this.#alone(() => {
      const row = this.sessions.get(sessionName(request.key))?.row;
      if (row?.revision !== request.revision) return false;
      if ((row.labels ?? '') !== (request.labels ?? '')) return false;
      this.remove({ what: 'session', key: request.key });
      return true;
    });
  }

  close(): void | Promise<void> {
    return undefined;
  }

  /** The rows that a write finds. */
  find({ key, eventIds, since }: StorageWriteRequest): Found {
    const session = this.sessions.get(sessionName(key));
    const events = [...(session?.events.values() ?? [])];
    return {
      session: session?.row,
      user: this.scopes.get(userName(key)),
      app: this.scopes.get(appName(key)),
      events: events.filter(({ id }) => eventIds.includes(id)),
      changed: events.filter(({ revision }) => revision > since),
      floor: this.floor,
    };
  }

  write(request: StorageWriteRequest, decide: Decide): void {
    const changes = decide(this.find(request));
    if (changes === undefined) return;
    const { key } = request;
    if (changes.session !== undefined) {
      const events = this.sessions.get(sessionName(key))?.events ?? new Map<string, EventRow>();
      for (const event of changes.events) events.set(event.id, event);
      this.sessions.set(sessionName(key), { row: changes.session, events });
    }
    if (changes.user !== undefined) this.scopes.set(userName(key), changes.user);
    if (changes.app !== undefined) this.scopes.set(appName(key), changes.app);
  }

  rows({ key, window }: StorageReadRequest): Rows {
    const session = this.sessions.get(sessionName(key));
    const { last, after, since = 0 } = window;
    const events = [...(session?.events.values() ?? [])]
      .sort((one, other) => one.seq - other.seq)
      .filter(({ timestamp }) => after === undefined || timestamp >= after)
      .filter(({ revision }) => revision > since);
    return {
      session: session?.row,
      user: this.scopes.get(userName(key)),
      app: this.scopes.get(appName(key)),
      events: last === undefined ? events : events.slice(Math.max(0, events.length - last)),
    };
  }

  page({ appName: app, userId, order, offset, limit }: StorageListRequest): Listing {
    const rows = [...this.sessions.values()].map(({ row }) => row);
    const found = rows
      .filter((row) => row.appName === app && (userId === undefined || row.userId === userId))
      .sort(
        (one, other) =>
          one.lastUpdateTime - other.lastUpdateTime || (one.sessionId < other.sessionId ? -1 : 1),
      );
    if (order === 'desc') found.reverse();
    const users = [...new Set(found.map((row) => row.userId))].flatMap((id) => {
      const row = this.scopes.get(userName({ appName: app, userId: id }));
      return row === undefined ? [] : [{ ...row, userId: id }];
    });
    return {
      sessions: found.slice(offset, limit === undefined ? undefined : offset + limit),
      users,
      app: this.scopes.get(appName({ appName: app })),
      total: found.length,
    };
  }

  remove({ what, key }: StorageDeleteRequest): void {
    const gone: { revision: number }[] = [];
    for (const [name, { row }] of this.sessions) {
      const isMeant =
        what === 'session'
          ? name === sessionName(key)
          : what === 'user' && row.appName === key.appName && row.userId === key.userId;
      if (!isMeant) continue;
      gone.push(row);
      this.sessions.delete(name);
    }
    const scope = what === 'session' ? undefined : what === 'appState' ? appName(key) : userName(key); // prettier-ignore
    const state = scope === undefined ? undefined : this.scopes.get(scope);
    if (scope !== undefined && state !== undefined) {
      gone.push(state);
      this.scopes.delete(scope);
    }
    this.floor = Math.max(this.floor, ...gone.map(({ revision }) => revision));
  }

  /** Puts an unreadable text in the place of a stored event's. */
  damage(id: string, text: string): void {
    for (const { events } of this.sessions.values()) {
      const row = events.get(id);
      if (row !== undefined) events.set(id, { ...row, text });
    }
  }

  #alone<T>(run: () => T): Promise<T> {
    const done = this.#last.then(async () => {
      await this.pause();
      return run();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** A promise, and the way to fulfil it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function sessionName({ appName, userId, sessionId }: StorageKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

function userName({ appName, userId }: StorageKey): string {
  return JSON.stringify([appName, userId]);
}

function appName({ appName }: StorageKey): string {
  return JSON.stringify([appName]);
}
