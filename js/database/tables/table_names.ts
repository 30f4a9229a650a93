/** Where the tables are: a schema, and what their names begin with. */
import { invalid, shown } from '../../call/call.js';
import type { EngineKind } from '../engines/engine.js';

/** Where the tables are, and what their names begin with. */
export interface TableNames {
  readonly schema: string | undefined;
  readonly prefix: string;
}

/** The same as options give it. */
export interface NameOptions {
  readonly schema?: string | undefined;
  readonly tablePrefix?: string | undefined;
}

/** How statements that are shown to people name a table. */
export function fullName({ schema, prefix }: TableNames, table: string, quote: '"' | '`'): string {
  const name = `${quote}${prefix}${table}${quote}`;
  return schema === undefined ? name : `${quote}${schema}${quote}.${name}`;
}

/** The table that we keep beside Python's. */
export const OURS = 'adk_session_wasm_sessions';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The longest name that begins with it is then as long as PostgreSQL takes one. */
const MAX_PREFIX = 20;
const MAX_SCHEMA = 63;

/** @throws SessionError `invalid_argument` */
export function requireTableNames(
  kind: EngineKind,
  { schema, tablePrefix = '' }: NameOptions,
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
