/**
 * Renames the tables in every query: adds a schema and a prefix, and replaces each of our tables beside the
 * sessions by an empty one if it is missing.
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
import { DETAILS, OUR_TABLES, SIDE_TABLE, type TableNames, TERMS } from './table_names.js';
import type { Database, Tables } from './tables.js';

const ALL: Readonly<Record<keyof Tables, true>> = {
  adk_internal_metadata: true,
  adk_session_wasm_details: true,
  adk_session_wasm_metadata: true,
  adk_session_wasm_sessions: true,
  adk_session_wasm_terms: true,
  app_states: true,
  events: true,
  sessions: true,
  user_states: true,
};

/**
 * Returns the database with these names in every query that is built with it.
 *
 * @param tables the tables that exist; in a missing one of ours, queries find no rows. Default: all exist.
 */
export function withTableNames(
  database: Database,
  names: TableNames,
  tables: ReadonlySet<string> = new Set(OUR_TABLES),
): Database {
  const hasOurs = OUR_TABLES.every((table) => tables.has(table));
  if (names.schema === undefined && names.prefix === '' && hasOurs) return database;
  return database.withPlugin(new Renaming(names, tables));
}

class Renaming implements KyselyPlugin {
  readonly #transformer: Transformer;

  constructor(names: TableNames, tables: ReadonlySet<string>) {
    this.#transformer = new Transformer(names, tables);
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs) {
    return this.#transformer.transformNode(node, queryId);
  }

  transformResult({ result }: PluginTransformResultArgs) {
    return Promise.resolve(result);
  }
}

class Transformer extends OperationNodeTransformer {
  readonly #names: TableNames;
  readonly #tables: ReadonlySet<string>;

  constructor(names: TableNames, tables: ReadonlySet<string>) {
    super();
    this.#names = names;
    this.#tables = tables;
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
    const isAbsent = isOurs(name) && !this.#tables.has(name);
    return super.transformAlias(
      isAbsent ? { ...node, node: NO_ROWS[name].toOperationNode() } : node,
      ...rest,
    );
  }
}

function isOurs(name: string): name is keyof typeof NO_ROWS {
  return Object.hasOwn(NO_ROWS, name);
}

/** Our tables beside the sessions, without rows. */
const NO_ROWS = {
  [SIDE_TABLE]: sql`(select app_name, user_id, id as session_id, update_time,
    update_time as last_update_time, update_time as replaced_at
    from ${sql.table('sessions')} where 1 = 0)`,
  [DETAILS]: sql`(select app_name, user_id, id as session_id, create_time, id as title, state as labels,
    state as initial_state
    from ${sql.table('sessions')} where 1 = 0)`,
  [TERMS]: sql`(select app_name, user_id, id as session_id, id as term
    from ${sql.table('sessions')} where 1 = 0)`,
};
