/**
 * Renames the tables in every query: adds a schema and a prefix, and replaces each table that Python does not need
 * by an empty one if it is missing.
 */
import {
  type AliasNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  SchemableIdentifierNode,
  sql,
  TableNode,
} from 'kysely';
import type { TableNames } from '../engine/columns.js';
import { DETAILS, SIDE_TABLE } from './table_names.js';
import type { Database, Tables } from './tables.js';

const ALL: Readonly<Record<keyof Tables, true>> = {
  adk_internal_metadata: true,
  adk_session_wasm_details: true,
  adk_session_wasm_metadata: true,
  adk_session_wasm_operations: true,
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
};
