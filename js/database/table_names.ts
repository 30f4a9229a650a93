/** The names of the tables in every query: a schema, a prefix, and an empty table where ours is not there. */
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
import { invalid, shown } from '../service/call.js';
import type { EngineKind } from './engine.js';
import type { Database, Tables } from './tables.js';

/** Where the tables are, and what their names begin with. */
export interface TableNames {
  readonly schema: string | undefined;
  readonly prefix: string;
}

export const PLAIN_NAMES: TableNames = { schema: undefined, prefix: '' };

/** How statements that are shown to people name a table. */
export function fullName({ schema, prefix }: TableNames, table: string, quote: '"' | '`'): string {
  const name = `${quote}${prefix}${table}${quote}`;
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`;
}

/** The table that we keep beside Python's. */
export const OURS = 'adk_session_wasm_sessions';

const ALL: Readonly<Record<keyof Tables, true>> = {
  adk_internal_metadata: true,
  adk_session_wasm_metadata: true,
  adk_session_wasm_sessions: true,
  app_states: true,
  events: true,
  sessions: true,
  user_states: true,
};

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The longest name that begins with it is then as long as PostgreSQL takes one. */
const MAX_PREFIX = 20;
const MAX_SCHEMA = 63;

/** @throws SessionError `invalid_argument` */
export function requireTableNames(
  kind: EngineKind,
  { schema, tablePrefix = '' }: { schema?: unknown; tablePrefix?: unknown },
): TableNames {
  if (!isName(tablePrefix, MAX_PREFIX) && tablePrefix !== '') {
    throw invalid(
      'tablePrefix',
      `must be of letters, digits and _, at most ${MAX_PREFIX}; it is ${shown(tablePrefix)}`,
    );
  }
  if (schema === undefined) return { schema, prefix: tablePrefix };
  if (kind === 'sqlite') throw invalid('schema', 'is not for SQLite; give a tablePrefix');
  if (isName(schema, MAX_SCHEMA)) return { schema, prefix: tablePrefix };
  throw invalid(
    'schema',
    `must be of letters, digits and _, at most ${MAX_SCHEMA}; it is ${shown(schema)}`,
  );
}

function isName(name: unknown, most: number): name is string {
  return typeof name === 'string' && name.length <= most && NAME.test(name);
}

/**
 * The database with these names in all queries that are built with it.
 *
 * @param hasOurs whether our own table is there; else queries that read it find no rows in it
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

/** Our table without rows. */
const NO_ROWS = sql`(select app_name, user_id, id as session_id, update_time,
  update_time as last_update_time, update_time as replaced_at
  from ${sql.table('sessions')} where 1 = 0)`;
