/**
 * Opens the tables before the first verb: finds their layout, checks them and creates those that are missing.
 */
import { sql } from 'kysely';
import {
  isSessionError,
  type SessionError,
  type SessionErrorCode,
} from '../../../values/errors/errors.js';
import type { TableColumn, Engine } from '../engine/engine.js';
import type { TransactionRunner } from '../engine/connection.js';
import { OwnFailure, refused } from '../engine/failure.js';
import type { OptimisticDriver } from '../engine/optimistic_driver.js';
import { ADK_LAYOUT, DATABASE_LAYOUT, type Layout, LAYOUTS, SQLITE_LAYOUT } from './layout.js';
import { createTables, type Index, indices, SCHEMA_VERSION, withTableNames } from './schema.js';
import { OUR_COLUMNS, OUR_TABLES } from './table_names.js';
import { runOnce, type Steps } from '../engine/prepared.js';
import { type Database, METADATA, type NamedTables, readMetadata } from './tables.js';
import { oneAttempt } from '../transactions/transaction.js';

/** The tables that both layouts have. The types of their time columns tell the layout. */
const PYTHON_TABLES = ['sessions', 'app_states', 'user_states', 'events'];

const METADATA_TABLES = [DATABASE_LAYOUT, SQLITE_LAYOUT].map(({ metadata }) => metadata);

/** The tables to open. */
export interface TablesToOpen extends Omit<NamedTables, 'database'> {
  /** Whether missing tables are created, have to exist, or are not needed, since nothing is written. */
  readonly access: 'create' | 'write' | 'read';
}

/** Tables that were checked. */
export interface OpenedTables {
  readonly layout: Layout;
  /** Puts the tables' full names into every query that is built with it. */
  readonly database: Database;
  /** The reason why the tables can only be read; `undefined` if they can be written. */
  readonly refusal?: SessionError | undefined;
  /**
   * Builds missing indices while others write. Takes longer the larger the tables are. Never rejects.
   *
   * @param isStopped whether to begin no further index
   */
  readonly buildIndices?: ((isStopped: () => boolean) => Promise<void>) | undefined;
}

/**
 * Checks the existing tables and creates the missing ones. If Python's tables exist and ours cannot be
 * created, as on a read-only server, the tables can only be read.
 *
 * @throws SessionError `storage_unavailable` if the tables have another layout, with how to migrate them or
 *   the statements that correct them; `storage_newer` if the schema version is a later one
 */
export async function openTables(
  run: TransactionRunner,
  unnamed: Database,
  { engine, names, access }: TablesToOpen,
): Promise<OpenedTables> {
  const database = withTableNames(unnamed, names);
  const named = { database, engine, names };
  const openToRead = ({ layout, tables }: ReadableTables, refusal: SessionError) => {
    return { layout, database: withTableNames(unnamed, names, tables), refusal };
  };
  if (access === 'read') {
    const readable = await run('read', () => checkToRead(named), {});
    return openToRead(readable, refused(engine, 'was opened to be read'));
  }
  let checked = await run('read', () => check(named, false), {});
  if (!checked.isComplete) {
    try {
      if (access === 'write') {
        const what = `lacks tables, and createTables is false; run what this prints: npx adk-session-wasm schema ${engine.kind}`;
        throw refused(engine, what);
      }
      checked = await run('createTables', () => createMissing(named), {});
    } catch (error) {
      if (!isSessionError(error) || PASSING.includes(error.code)) throw error;
      if (!PYTHON_TABLES.every((table) => checked.tables.has(table))) throw error;
      return openToRead(checked, error);
    }
  }
  const { layout, missing } = checked;
  const buildIndices: OpenedTables['buildIndices'] = (isStopped) =>
    buildOnline(run, named, missing, isStopped);
  return {
    layout,
    database,
    buildIndices: access === 'create' ? buildIndices : undefined,
  };
}

/** The tables that services have opened, by the driver and their names. */
const openedTables = new WeakMap<OptimisticDriver, Map<string, OpenedTables>>();

/** Opens tables unless another service has opened them with the same driver, for instance for an earlier request. */
export async function openOnce(
  driver: OptimisticDriver,
  { names, access }: Pick<TablesToOpen, 'names' | 'access'>,
  open: () => Promise<OpenedTables>,
): Promise<OpenedTables> {
  const tables = openedTables.get(driver) ?? new Map<string, OpenedTables>();
  openedTables.set(driver, tables);
  const name = JSON.stringify([names.schema, names.prefix, access]);
  const opened = tables.get(name) ?? (await open());
  if (opened.refusal === undefined) tables.set(name, opened);
  return opened;
}

/** The codes of failures that may pass, so that another attempt may succeed. */
const PASSING: readonly SessionErrorCode[] = ['connection_lost', 'storage_blocked'];

/**
 * Creates the missing tables, under the engine's lock against others who create them.
 */
function* createMissing(named: NamedTables): Steps<TableCheck> {
  const { database, engine } = named;
  const lock = engine.transactions.creationLock;
  if (lock !== undefined) {
    const [row] = yield* runOnce(database, lock.acquire, { undo: lock.release });
    if (Number(row?.locked) !== 1) throw new OwnFailure('others are opening it', 'conflict');
  }
  // Checks again, since others may have been opening the database too.
  const checked = yield* check(named, true);
  if (checked.isComplete) return checked;
  const { layout, tables } = checked;
  const schema = { ...named, layout };
  const indices = yield* missingIndices(schema);
  const missing = yield* createTables(schema, tables, indices);
  return { layout, tables, isComplete: true, missing };
}

/**
 * Checks the tables of a database that is only read, including those of `@google/adk`'s own service.
 *
 * Columns that would lose data are accepted, because nothing is written. An id must still not find another
 * id's rows.
 *
 * @throws SessionError as {@link openTables}; `storage_unavailable` if the tables are missing
 */
function* checkToRead(named: NamedTables): Steps<ReadableTables> {
  const { engine } = named;
  const existing = yield* readTables(named);
  requireLayout(existing, engine);
  const { columns, tables } = existing;
  const missing = PYTHON_TABLES.filter((table) => !tables.has(table));
  if (missing.length > 0) {
    throw refused(
      engine,
      `has no sessions of google-adk: the tables ${missing.join(', ')} are missing`,
    );
  }
  const layout = layoutOf(columns, engine);
  const use = layout === ADK_LAYOUT ? 'readOfAdk' : 'read';
  yield* engine.tables.checkColumns(named, columns.filter(isOfPython), use);
  return { layout, tables };
}

/** The layout of the tables, and the names of those that exist. */
interface ReadableTables {
  readonly layout: Layout;
  readonly tables: ReadonlySet<string>;
}

/** The result of a check. Indices are looked up only if all tables exist. */
interface TableCheck extends ReadableTables {
  /** Whether all tables and all rows of metadata exist. */
  readonly isComplete: boolean;
  /** The missing indices. */
  readonly missing: readonly Index[];
}

/** @param isAlone whether nobody else can be creating the tables now */
function* check(named: NamedTables, isAlone: boolean): Steps<TableCheck> {
  const { database, engine } = named;
  const existing = yield* readTables(named);
  const { columns, tables, version } = existing;
  // Others may be creating the tables. Their row with the version comes after the table.
  const mayBeInCreation = tables.has(DATABASE_LAYOUT.metadata) && version === undefined && !isAlone;
  const partial = { tables, isComplete: false, missing: [] };
  if (mayBeInCreation) return { layout: DATABASE_LAYOUT, ...partial };
  requireLayout(existing, engine);
  const layout = layoutOf(columns, engine);
  if (layout === ADK_LAYOUT) throw ofAdk(engine);
  yield* engine.tables.checkColumns(named, columns.filter(isOfPython), 'write');
  const isComplete =
    [...PYTHON_TABLES, layout.metadata, ...OUR_TABLES].every((table) => tables.has(table)) &&
    (yield* readMetadata(database, layout.metadata, METADATA.floor)) !== undefined;
  if (!isComplete) return { layout, ...partial };
  const schema = { ...named, layout };
  const missing = yield* missingIndices(schema);
  return { layout, tables, isComplete, missing };
}

function isOfPython({ table }: TableColumn): boolean {
  return !OUR_TABLES.includes(table);
}

/** The tables and columns that exist. */
interface ExistingTables {
  readonly columns: readonly TableColumn[];
  readonly tables: ReadonlySet<string>;
  /** The schema version in the metadata, if there is one. */
  readonly version: string | undefined;
}

function* readTables(named: NamedTables): Steps<ExistingTables> {
  const { checkTexts } = named.engine.tables;
  if (checkTexts !== undefined) yield* checkTexts(named.database);
  const columns = yield* readColumns(named);
  if (columns.length === 0) yield* requireSchema(named);
  const tables = new Set(columns.map(({ table }) => table));
  const { metadata } = DATABASE_LAYOUT;
  const version = tables.has(metadata)
    ? yield* readMetadata(named.database, metadata, METADATA.version)
    : undefined;
  return { columns, tables, version };
}

function* requireSchema({ database, engine, names: { schema } }: NamedTables): Steps<void> {
  if (schema === undefined) return;
  const rows = yield* runOnce(
    database,
    sql`select 1 from information_schema.schemata where schema_name = ${schema}`,
  );
  if (rows.length > 0) return;
  const { sql: statement } = sql`create schema ${sql.id(schema)}`.compile(database);
  throw refused(engine, `has no schema ${schema}; run: ${statement}`);
}

/** Refuses tables of an unknown layout. */
function requireLayout({ columns, tables, version }: ExistingTables, engine: Engine): void {
  if (tables.has(DATABASE_LAYOUT.metadata)) requireVersion(version, engine);
  if (tables.has('events')) requireEventData(columns, engine);
  for (const [ours, names] of Object.entries(OUR_COLUMNS)) {
    const found = columns.filter(({ table }) => table === ours).map(({ name }) => name);
    if (found.length === 0 || names.every((name) => found.includes(name))) continue;
    const what = `has a table ${ours} of an earlier build of adk-session-wasm; drop it, and open the database again`;
    throw refused(engine, what);
  }
}

function requireVersion(value: string | undefined, engine: Engine): void {
  if (value === undefined) {
    throw refused(
      engine,
      `has a table adk_internal_metadata without the row '${METADATA.version}', and may be damaged`,
    );
  }
  const version = Number(value);
  if (version === SCHEMA_VERSION) return;
  if (version < SCHEMA_VERSION) throw pickled(engine);
  throw refused(
    engine,
    `is of schema version ${value}; install a newer adk-session-wasm`,
    'storage_newer',
  );
}

/** Without a version in the metadata, goes by the columns of `events`, as Python does. */
function requireEventData(columns: readonly TableColumn[], engine: Engine): void {
  const names = columns.filter(({ table }) => table === 'events').map(({ name }) => name);
  if (names.includes('event_data')) return;
  if (names.includes('actions')) throw pickled(engine);
  throw refused(engine, 'has a table events that google-adk did not make');
}

/**
 * Determines the layout from any of the tables. Python's `SqliteSessionService` creates them one by one, and
 * may have been interrupted.
 */
function layoutOf(columns: readonly TableColumn[], engine: Engine): Layout {
  const layouts = new Set(columns.map((column) => layoutOfColumn(column, engine)));
  if (layouts.has(ADK_LAYOUT)) return ADK_LAYOUT;
  if (!layouts.has(SQLITE_LAYOUT)) return DATABASE_LAYOUT;
  if (!layouts.has(DATABASE_LAYOUT)) return SQLITE_LAYOUT;
  throw refused(
    engine,
    "has some tables of google-adk's SqliteSessionService and some of its DatabaseSessionService, and may be damaged",
  );
}

/** Returns the layout that the type of the column tells; `undefined` if it tells none. */
function layoutOfColumn(column: TableColumn, engine: Engine): Layout | undefined {
  const maker = PYTHON_TABLES.includes(column.table) ? engine.tables.makerOf(column) : undefined;
  return maker && LAYOUTS[maker];
}

function ofAdk(engine: Engine): SessionError {
  return refused(
    engine,
    "has tables of @google/adk's own DatabaseSessionService, which can only be read; copy them: npx adk-session-wasm copy FROM TO",
  );
}

function pickled(engine: Engine): SessionError {
  return refused(
    engine,
    'is of schema version 0, whose events are Python pickles; migrate it with google-adk for Python: adk migrate session --source_db_url SOURCE --dest_db_url DESTINATION',
  );
}

/** Reads the columns of the known tables. The tables' names come without the prefix. */
function* readColumns({
  database,
  engine,
  names: { schema, prefix },
}: NamedTables): Steps<TableColumn[]> {
  const known = [...PYTHON_TABLES, ...METADATA_TABLES, ...OUR_TABLES];
  const tables = sql.join(known.map((name) => prefix + name));
  const query = engine.tables.catalog.columns(schema, tables);
  const rows = yield* runOnce(database, query);
  return rows.map((column) => ({ ...column, table: column.table.slice(prefix.length) }));
}

/**
 * Returns the indices that are missing. Counts an index as missing if PostgreSQL does not use it because its
 * concurrent build was interrupted.
 */
function* missingIndices(tables: NamedTables): Steps<Index[]> {
  const known = yield* indexNames(tables);
  return indices(tables).filter(({ name }) => !known.has(name));
}

/**
 * Builds indices while others write to the tables. Never rejects: without an index lists are correct but
 * slower, so an account that may not create indices can still use the tables.
 *
 * @param isStopped whether to begin no further index
 */
async function buildOnline(
  run: TransactionRunner,
  tables: NamedTables,
  missing: readonly Index[],
  isStopped: () => boolean,
): Promise<void> {
  const build = tables.engine.indexes.buildOnline;
  if (build === undefined) return;
  for (const index of missing) {
    if (isStopped()) return;
    try {
      // Not retried, since writers wait behind each attempt.
      await run('autocommit', () => build(tables, index), {}, oneAttempt(tables.engine));
    } catch {
      // The next opening builds the index.
    }
  }
}

function* indexNames({ database, engine, names }: NamedTables): Steps<Set<string>> {
  const rows = yield* runOnce(database, engine.tables.catalog.indexNames(names.schema));
  return new Set(rows.map(({ known }) => known));
}
