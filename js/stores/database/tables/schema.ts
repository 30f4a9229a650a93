/** Creates the missing tables, those of Python as google-adk would have made them. */
import {
  type Compilable,
  type CreateTableBuilder,
  sql,
  type AliasNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  SchemableIdentifierNode,
  TableNode,
} from 'kysely';
import { readProduct } from '../engine/common_sql.js';
import type { ColumnType, ColumnTypes, IndexParts, TableNames } from '../engine/engine.js';
import { runOnce, type Steps } from '../engine/prepared.js';
import { INDEX_FACTOR } from '../engine/waits.js';
import type { Layout } from './layout.js';
import { mayBeMarker } from './markers.js';
import { DETAILS, FILE_CHUNKS, FILES, MUTATIONS, SEARCH, SIDE_TABLE } from './table_names.js';
import { floorText, METADATA, type NamedTables, type Tables, type Database } from './tables.js';

/** The only schema version of `DatabaseSessionService` that is written. */
export const SCHEMA_VERSION = 1;

/** The types of the columns of Python's `SqliteSessionService`. */
const SQLITE_SERVICE_TYPES: ColumnTypes = {
  id: 'text',
  invocationId: 'text',
  json: 'text',
  text: 'text',
  time: 'real',
  word: 'text',
  bytes: 'blob',
};

const SESSION_KEY: readonly string[] = ['app_name', 'user_id', 'id'];
const FILE_OWNER: readonly string[] = ['app_name', 'user_id', 'owner'];
const EVENT_SESSION: readonly string[] = ['app_name', 'user_id', 'session_id'];

/** The tables to create. */
export interface TableSchema extends NamedTables {
  readonly layout: Layout;
}

/**
 * Returns one statement per table, which creates it unless it exists. The table of metadata is the last one: without
 * its rows, tables would seem damaged.
 *
 * @param collation for {@link Engine.columnTypes}
 */
export function tableStatements(
  { database, engine, layout, names }: TableSchema,
  collation: string,
): Compilable[] {
  const isSqliteService = layout.service === 'SqliteSessionService';
  const { id, invocationId, json, text, time, word, bytes } = isSqliteService
    ? SQLITE_SERVICE_TYPES
    : engine.tables.columnTypes(collation);
  const nullable = [
    'replaced_at',
    'title',
    'labels',
    'parent',
    'initial_state',
    'revision',
    'since',
    'event_count',
    `${FILES}.content`,
  ];
  for (const files of [FILES, FILE_CHUNKS]) nullable.push(`${files}.session_id`);
  if (!isSqliteService) nullable.push('event_data');
  const table = (
    name: keyof Tables,
    columns: Readonly<Record<string, ColumnType>>,
    key: readonly string[],
  ): CreateTableBuilder<string, string> => {
    let made: CreateTableBuilder<string, string> = database.schema.createTable(name).ifNotExists();
    for (const [column, type] of Object.entries(columns)) {
      made = made.addColumn(column, type, (definition) =>
        nullable.includes(column) || nullable.includes(`${name}.${column}`)
          ? definition
          : definition.notNull(),
      );
    }
    return made.addPrimaryKeyConstraint(`${names.prefix}${name}_pkey`, [...key]);
  };
  /** A table whose rows are deleted with their session. */
  const ofSession = (
    name: keyof Tables,
    columns: Readonly<Record<string, ColumnType>>,
    key = EVENT_SESSION,
    constraint = `${name}_fkey`,
  ) =>
    table(name, columns, key).addForeignKeyConstraint(
      names.prefix + constraint,
      [...EVENT_SESSION],
      'sessions',
      [...SESSION_KEY],
      (reference) => reference.onDelete('cascade'),
    );
  const user = { app_name: id, user_id: id };
  const session = { ...user, session_id: id };
  const state = { state: json, update_time: time };
  return [
    table(
      'sessions',
      { ...user, id, state: json, create_time: time, update_time: time },
      SESSION_KEY,
    ),
    table('app_states', { app_name: id, ...state }, ['app_name']),
    table('user_states', { ...user, ...state }, ['app_name', 'user_id']),
    ofSession(
      'events',
      { id, ...session, invocation_id: invocationId, timestamp: time, event_data: json },
      isSqliteService ? [...EVENT_SESSION, 'id'] : ['id', ...EVENT_SESSION],
      'events_app_name_user_id_session_id_fkey',
    ),
    ofSession(SIDE_TABLE, {
      ...session,
      update_time: time,
      last_update_time: time,
      replaced_at: time,
    }),
    ofSession(DETAILS, {
      ...session,
      create_time: time,
      title: word,
      labels: json,
      parent: json,
      initial_state: json,
    }),
    ofSession(SEARCH, {
      ...session,
      revision: time,
      title: word,
      remembered: 'smallint',
      version: 'smallint',
      since: 'bigint',
      event_count: 'bigint',
      seen: text,
      words: text,
    }).modifyEnd(engine.tables.longRows ?? sql``),
    table(
      MUTATIONS,
      { ...session, client: id, last_number: 'bigint', created: 'bigint', update_time: 'bigint' },
      [...EVENT_SESSION, 'client'],
    ),
    ofSession(
      FILES,
      {
        ...session,
        owner: id,
        name: invocationId,
        version: 'integer',
        content: word,
        size: 'bigint',
        facts: text,
        create_time: 'bigint',
      },
      [...FILE_OWNER, 'name', 'version'],
    ),
    ofSession(
      FILE_CHUNKS,
      { ...session, owner: id, content: word, position: 'integer', bytes, create_time: 'bigint' },
      [...FILE_OWNER, 'content', 'position'],
    ),
    table(layout.metadata, { key: id, value: word }, ['key']),
  ];
}

/** Returns the initial rows of metadata, Python's and ours. */
export function metadataRows({
  service,
}: Layout): [key: (typeof METADATA)[keyof typeof METADATA], value: string][] {
  const floor: [typeof METADATA.floor, string] = [METADATA.floor, floorText(0)];
  return service === 'SqliteSessionService'
    ? [floor]
    : [[METADATA.version, String(SCHEMA_VERSION)], floor];
}

/**
 * Creates the missing tables with their rows of metadata. Also creates the missing indices of new tables, and
 * all missing indices on an engine that has only one writer in any case.
 *
 * @param existing the tables that exist
 * @param missing the indices that do not exist
 * @returns the indices that are still missing: building them here would make the writers to these tables wait
 */
export function* createTables(
  schema: TableSchema,
  existing: ReadonlySet<string>,
  missing: readonly Index[],
): Steps<Index[]> {
  const { database, engine, layout } = schema;
  const { collation } = yield* readProduct(engine, database);
  const tables = tableStatements(schema, collation);
  for (const table of tables.slice(0, -1)) yield* runOnce(database, table);
  const isBuiltHere = ({ table }: Index) =>
    engine.indexes.buildOnline === undefined || !existing.has(table);
  for (const index of missing.filter(isBuiltHere)) {
    yield* runOnce(database, indexStatement(schema, index), { factor: INDEX_FACTOR });
  }
  // The table of metadata, and at once its rows.
  for (const metadata of tables.slice(-1)) yield* runOnce(database, metadata);
  for (const [key, value] of metadataRows(layout)) {
    const into = sql`into ${sql.table(layout.metadata)} (${sql.ref('key')}, ${sql.ref('value')})
      values (${key}, ${value})`;
    yield* runOnce(database, engine.queries.insertIfAbsent(into));
  }
  return missing.filter((index) => !isBuiltHere(index));
}

/** An index of a table. */
export interface Index extends IndexParts {
  readonly table: keyof Tables;
}

/**
 * Returns the indices of the tables. The first is Python's. Its `SqliteSessionService` lacks it, and we need
 * it for the order of events. The others are ours, for markers and for lists by time.
 */
export function indices({ engine, names }: Pick<NamedTables, 'engine' | 'names'>): Index[] {
  const index = (name: string, table: keyof Tables, ...columns: string[]): Index => {
    return { name: names.prefix + name, table, columns };
  };
  const time = ['timestamp desc', 'id desc'];
  const markers = index('adk_session_wasm_markers', 'events', ...EVENT_SESSION);
  return [
    ...(engine.indexes.hasPartialIndices ? [{ ...markers, where: mayBeMarker(engine) }] : []),
    index('idx_events_app_user_session_ts_id', 'events', ...EVENT_SESSION, ...time),
    index('adk_session_wasm_by_update', 'sessions', 'app_name', 'update_time'),
    index('adk_session_wasm_by_creation', 'sessions', 'app_name', 'create_time'),
    index('adk_session_wasm_by_last_update', SIDE_TABLE, 'app_name', 'last_update_time'),
    // One user's sessions. Through the indices above a page of them would visit all sessions of the app.
    index('adk_session_wasm_by_user', 'sessions', 'app_name', 'user_id', 'update_time'),
    index('adk_session_wasm_by_user_creation', 'sessions', 'app_name', 'user_id', 'create_time'),
    index('adk_session_wasm_by_user_last', SIDE_TABLE, 'app_name', 'user_id', 'last_update_time'),
    index('adk_session_wasm_by_mutation', MUTATIONS, 'update_time'),
  ];
}

function indexStatement(
  { database, engine }: TableSchema,
  { name, table, columns, where }: Index,
): Compilable<never> {
  const created = database.schema.createIndex(name).on(table);
  // Two may build it at once, if they hold no locks. MySQL does not know the words.
  const builder = engine.transactions.locksByInsert ? created : created.ifNotExists();
  const index = builder.expression(sql.raw(columns.join(', ')));
  return where === undefined ? index : index.where(where);
}

// Renames the tables in every query: adds a schema and a prefix, and replaces each table that Python does not need
// by an empty one if it is missing.

const ALL: Readonly<Record<keyof Tables, true>> = {
  adk_internal_metadata: true,
  adk_session_wasm_details: true,
  adk_session_wasm_file_chunks: true,
  adk_session_wasm_files: true,
  adk_session_wasm_metadata: true,
  adk_session_wasm_mutations: true,
  adk_session_wasm_search: true,
  adk_session_wasm_sessions: true,
  app_states: true,
  events: true,
  sessions: true,
  user_states: true,
};

/**
 * Returns the database with these names in every query that is built with it.
 *
 * @param tables the tables that exist; default: all. In a missing one that Python does not need, queries that name
 *   it with an alias find no rows.
 */
export function withTableNames(
  database: Database,
  names: TableNames,
  tables?: ReadonlySet<string>,
): Database {
  const isUnchanged = names.schema === undefined && names.prefix === '' && tables === undefined;
  if (isUnchanged) return database;
  return database.withPlugin(new Renaming(names, tables));
}

class Renaming extends OperationNodeTransformer implements KyselyPlugin {
  readonly #names: TableNames;
  readonly #tables: ReadonlySet<string> | undefined;

  constructor(names: TableNames, tables: ReadonlySet<string> | undefined) {
    super();
    this.#names = names;
    this.#tables = tables;
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs) {
    return this.transformNode(node, queryId);
  }

  transformResult({ result }: PluginTransformResultArgs) {
    return Promise.resolve(result);
  }

  protected override transformSchemableIdentifier(
    node: SchemableIdentifierNode,
  ): SchemableIdentifierNode {
    const { name } = node.identifier;
    if (node.schema !== undefined || !Object.hasOwn(ALL, name)) return node;
    const { schema, prefix } = this.#names;
    return schema === undefined
      ? SchemableIdentifierNode.create(prefix + name)
      : SchemableIdentifierNode.createWithSchema(schema, prefix + name);
  }

  protected override transformAlias(node: AliasNode, ...rest: [queryId?: never]): AliasNode {
    const name = TableNode.is(node.node) ? node.node.table.identifier.name : '';
    const isAbsent = isOptional(name) && this.#tables?.has(name) === false;
    return super.transformAlias(
      isAbsent ? { ...node, node: EMPTY_TABLES[name].toOperationNode() } : node,
      ...rest,
    );
  }
}

function isOptional(name: string): name is keyof typeof EMPTY_TABLES {
  return Object.hasOwn(EMPTY_TABLES, name);
}

/** A table of metadata without rows. */
const EMPTY_METADATA = sql`(select app_name as ${sql.ref('key')}, app_name as ${sql.ref('value')}
  from ${sql.table('sessions')} where 1 = 0)`;

/** The tables that Python does not need, without rows. */
const EMPTY_TABLES = {
  adk_internal_metadata: EMPTY_METADATA,
  adk_session_wasm_metadata: EMPTY_METADATA,
  [SIDE_TABLE]: sql`(select app_name, user_id, id as session_id, update_time,
    update_time as last_update_time, update_time as replaced_at
    from ${sql.table('sessions')} where 1 = 0)`,
  [DETAILS]: sql`(select app_name, user_id, id as session_id, create_time, id as title, state as labels,
    state as parent, state as initial_state
    from ${sql.table('sessions')} where 1 = 0)`,
  [FILES]: sql`(select app_name, user_id, id as owner, id as name, 0 as version, id as content, 0 as size, id as facts,
    0 as create_time from ${sql.table('sessions')} where 1 = 0)`,
};
