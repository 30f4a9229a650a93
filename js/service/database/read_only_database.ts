import { rules } from '#rules';
import type { Compilable } from 'kysely';
import { partsOver } from '../over_storage.js';
import { ServiceCore } from '../service_core.js';
import { StoredSessionService } from '../stored_session_service.js';
import type { StorageKey } from '../../core/storage/rows.js';
import { DatabaseHome } from '../../stores/database/artifacts/database_home.js';
import { newEventId } from '../../values/model/event/create_event.js';
import { DatabaseStorage } from '../../stores/database/database_storage.js';
import { parseAddress } from '../../stores/database/engine/address.js';
import { ENGINES } from '../../stores/database/engines/engines.js';
import { type NameOptions, requireTableNames } from '../../stores/database/tables/table_names.js';
import { runOnce } from '../../stores/database/engine/prepared.js';
import { Waits } from '../../stores/database/engine/waits.js';
import type { VerbContext } from '../../stores/database/statements/verb_context.js';

/** The number of names that are read at once. */
const PAGE = 1000;

/**
 * A database that is only read: no table is created, and a SQLite file stays as it is, journal mode included. It may
 * have the tables of `@google/adk`'s own service.
 *
 * Names come in the order of their keys, page by page, each page from where the last one ended. Writes in the
 * meantime do not change that order, unlike the order of `list`, and each page costs the same.
 */
export class ReadOnlyDatabase extends StoredSessionService {
  readonly #storage: DatabaseStorage;

  /** @throws SessionError `invalid_argument`, without the URL */
  constructor(url: string, options: NameOptions = {}) {
    const address = parseAddress(url);
    const { kind } = address;
    const driverOptions = ENGINES[kind].readOnlyOptions;
    const storage = new DatabaseStorage({
      kind,
      from: { address, durability: 'strict', driverOptions },
      names: requireTableNames(kind, options),
      access: 'read',
      durable: true,
      clock: Date.now,
      waits: new Waits(),
    });
    const home = new DatabaseHome(() => Promise.resolve(storage), newEventId);
    const openArtifacts = () => Promise.resolve(home);
    const parts = { ...partsOver(storage, storage), openArtifacts, rules };
    super(new ServiceCore(parts, { artifacts: true }));
    this.#storage = storage;
  }

  /** Returns all apps that have sessions or a state. */
  async apps(): Promise<string[]> {
    const rows = await this.#query(({ database }) =>
      database
        .selectFrom('sessions')
        .select('app_name')
        .union(database.selectFrom('app_states').select('app_name'))
        .union(database.selectFrom('user_states').select('app_name'))
        .orderBy('app_name'),
    );
    return rows.map((row) => row.app_name);
  }

  /** Returns the users of an app who have a state. */
  usersWithState(app: string): AsyncGenerator<string, void> {
    return this.#users('user_states', app);
  }

  /** Returns the users of an app who have files. */
  usersWithFiles(app: string): AsyncGenerator<string, void> {
    return this.#users('adk_session_wasm_files', app);
  }

  async *sessionKeys(appName: string): AsyncGenerator<Required<StorageKey>, void> {
    for await (const userId of this.#users('sessions', appName)) {
      const ids = paged((last) =>
        this.#query(({ database }) => {
          const query = database
            .selectFrom('sessions')
            .select('id as name')
            .where('app_name', '=', appName)
            .where('user_id', '=', userId);
          const rest = last === undefined ? query : query.where('id', '>', last);
          return rest.orderBy('id').limit(PAGE);
        }),
      );
      for await (const sessionId of ids) yield { appName, userId, sessionId };
    }
  }

  #users(
    table: 'user_states' | 'sessions' | 'adk_session_wasm_files',
    app: string,
  ): AsyncGenerator<string, void> {
    return paged((last) =>
      this.#query(({ database }) => {
        const query = database
          // All of them have the columns that are read.
          .selectFrom(`${table} as listed` as 'user_states as listed')
          .select('user_id as name')
          .distinct()
          .where('app_name', '=', app);
        const rest = last === undefined ? query : query.where('user_id', '>', last);
        return rest.orderBy('user_id').limit(PAGE);
      }),
    );
  }

  async #query<Row>(build: (context: VerbContext) => Compilable<Row>): Promise<readonly Row[]> {
    const steps = (context: VerbContext) => runOnce(context.database, build(context));
    return this.#storage.transact('read', steps, {});
  }
}

async function* paged(
  page: (last: string | undefined) => Promise<readonly { name: string }[]>,
): AsyncGenerator<string, void> {
  let last: string | undefined;
  for (;;) {
    const rows = await page(last);
    for (const { name } of rows) yield (last = name);
    if (rows.length < PAGE) return;
  }
}
