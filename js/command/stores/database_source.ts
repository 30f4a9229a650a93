import { ReadOnlyDatabase } from '../../database/read_only_database.js';
import type { NameOptions } from '../../database/tables/table_names.js';
import { mergeShared } from '../../files/import/shared_state.js';
import type { StateShape } from '../../state/state_shape.js';
import type { Rows, SharedRow, StorageKey } from '../../storage/rows.js';
import type { SessionCopy, StateCopy } from './session_copy.js';
import { type Item, requireSessionError, type Source } from './store.js';

/** Reads sessions and states from a SQL database. */
export class DatabaseSource implements Source {
  readonly #database: ReadOnlyDatabase;
  readonly #selectedApps: readonly string[];
  #apps: Promise<string[]> | undefined;

  /** @param apps the apps to read; if empty, all apps */
  constructor(url: string, apps: readonly string[], names: NameOptions) {
    this.#database = new ReadOnlyDatabase(url, names);
    this.#selectedApps = apps;
  }

  open(): Promise<void> {
    return this.#database.open();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async size(): Promise<number> {
    return this.#database.countSessions(await this.#appNames());
  }

  async *items(): AsyncGenerator<Item, void> {
    let position = 0;
    for (const appName of await this.#appNames()) {
      const { app } = await this.#database.read({ appName });
      yield* stateItem({ appName }, app, position);
      for await (const userId of this.#database.usersWithState(appName)) {
        const { user } = await this.#database.read({ appName, userId });
        yield* stateItem({ appName, userId }, user, position);
      }
      for await (const key of this.#database.sessionKeys(appName)) {
        position += 1;
        yield* this.#session(key, position);
      }
    }
  }

  async *#session(key: Required<StorageKey>, position: number): AsyncGenerator<Item, void> {
    try {
      const session = copyOfRows(key, await this.#database.read(key));
      // `undefined` if the session was deleted after its key was listed.
      if (session !== undefined) yield { kind: 'session', position, session };
    } catch (error) {
      requireSessionError(error);
      yield {
        kind: 'unreadable',
        position,
        name: `session ${JSON.stringify(key.sessionId)}`,
        error,
      };
    }
  }

  #isSelected(app: string): boolean {
    return this.#selectedApps.length === 0 || this.#selectedApps.includes(app);
  }

  #appNames(): Promise<string[]> {
    this.#apps ??= this.#database
      .apps()
      .then((apps) => apps.filter((app) => this.#isSelected(app)));
    return this.#apps;
  }
}

function* stateItem(
  key: StateCopy['key'],
  row: SharedRow | undefined,
  position: number,
): Generator<Item, void> {
  if (row !== undefined) yield { kind: 'state', position, state: { key, state: row.state } };
}

function copyOfRows(key: Required<StorageKey>, rows: Rows): SessionCopy | undefined {
  const { session, app, user, events } = rows;
  if (session === undefined) return undefined;
  return {
    key,
    created: session.created / 1000,
    lastUpdateTime: session.lastUpdateTime,
    state: session.state,
    events: events.map(({ id, timestamp, text }) => ({ id, timestamp, text })),
    shared: mergeShared({ app: parsedState(app), user: parsedState(user) }),
    title: session.title,
    labels: session.labels,
    initialState: session.initialState,
  };
}

function parsedState(row: SharedRow | undefined): StateShape {
  return row === undefined ? {} : (JSON.parse(row.state) as StateShape);
}
