/**
 * Renames the tables in every query: adds a schema and a prefix, and replaces our side table by an empty one
 * if it is missing.
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
import { OURS, type TableNames } from './table_names.js';
import type { Database, Tables } from './tables.js';

const ALL: Readonly<Record<keyof Tables, true>> = {
  adk_internal_metadata: true,
  adk_session_wasm_metadata: true,
  adk_session_wasm_sessions: true,
  app_states: true,
  events: true,
  sessions: true,
  user_states: true,
};

/**
 * Returns the database with these names in every query that is built with it.
 *
 * @param hasOurs whether our side table exists; if not, queries find no rows in it
 */
export function withTableNames(database: Database, names: TableNames, hasOurs: boolean): Database {
  if (names.schema === undefined && names.prefix === '' && hasOurs) return database;
  return database.withPlugin(new Renaming(names, hasOurs));
}

class Renaming implements KyselyPlugin {
  readonly #transformer: Transformer;

  constructor(names: TableNames, hasOurs: boolean) {
    this.#transformer = new Transformer(names, hasOurs);
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
  readonly #hasOurs: boolean;

  constructor(names: TableNames, hasOurs: boolean) {
    super();
    this.#names = names;
    this.#hasOurs = hasOurs;
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
    const isAbsent =
      !this.#hasOurs && TableNode.is(node.node) && node.node.table.identifier.name === OURS;
    return super.transformAlias(
      isAbsent ? { ...node, node: NO_ROWS.toOperationNode() } : node,
      ...rest,
    );
  }
}

/** Our side table without rows. */
const NO_ROWS = sql`(select app_name, user_id, id as session_id, update_time,
  update_time as last_update_time, update_time as replaced_at
  from ${sql.table('sessions')} where 1 = 0)`;
