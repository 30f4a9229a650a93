/** The names of the tables: their schema and their prefix. */
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
import { ADDRESS_RULES } from '../engine/address.js';
import type { TableNames, EngineKind } from '../engine/engine.js';

/** The names as the options give them. */
export interface NameOptions {
  readonly schema?: string | undefined;
  readonly tablePrefix?: string | undefined;
}

/** Our side table: it holds what Python's tables have no column for. */
export const SIDE_TABLE = 'adk_session_wasm_sessions';

/** Our second table beside the sessions: titles, labels, parents and initial states. */
export const DETAILS = 'adk_session_wasm_details';

/** Our third table: the last mutation of each client. Its rows outlive their session. */
export const MUTATIONS = 'adk_session_wasm_mutations';

/** Our fourth table: the words of sessions, by which a search finds candidates. */
export const SEARCH = 'adk_session_wasm_search';

/** The versions of files, and their bytes; see their types in `tables.ts`. */
export const FILES = 'adk_session_wasm_files';
export const FILE_CHUNKS = 'adk_session_wasm_file_chunks';

/** Our tables beside the sessions, and the columns by which those of earlier builds differ. */
export const OUR_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  [SIDE_TABLE]: ['last_update_time', 'replaced_at'],
  [DETAILS]: ['create_time', 'title', 'labels', 'parent', 'initial_state'],
  [SEARCH]: ['revision', 'title', 'remembered', 'version', 'since', 'event_count', 'seen', 'words'],
  [MUTATIONS]: ['client', 'last_number', 'created', 'update_time'],
  [FILES]: ['owner', 'name', 'version', 'content', 'size', 'facts', 'create_time'],
  [FILE_CHUNKS]: ['owner', 'content', 'position', 'bytes', 'create_time'],
};

/** Our tables beside the sessions. */
export const OUR_TABLES: readonly string[] = Object.keys(OUR_COLUMNS);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Keeps the longest name with this prefix within PostgreSQL's limit of 63 bytes. */
const MAX_PREFIX = 20;
const MAX_SCHEMA = 63;

/**
 * Checks the options.
 *
 * @throws SessionError `invalid_argument` if a name is too long or has other characters than letters,
 *   digits and `_`, or if the engine has no schemas
 */
export function requireTableNames(
  kind: EngineKind,
  { schema, tablePrefix = '' }: NameOptions,
): TableNames {
  if (!isName(tablePrefix, MAX_PREFIX) && tablePrefix !== '') {
    throw invalidValue(
      'tablePrefix',
      `must be of letters, digits and _, at most ${MAX_PREFIX}`,
      tablePrefix,
    );
  }
  if (schema === undefined) return { schema, prefix: tablePrefix };
  const name = ADDRESS_RULES[kind].withoutSchemas;
  if (name !== undefined) throw invalid('schema', `is not for ${name}; give a tablePrefix`);
  if (isName(schema, MAX_SCHEMA)) return { schema, prefix: tablePrefix };
  throw invalidValue('schema', `must be of letters, digits and _, at most ${MAX_SCHEMA}`, schema);
}

function isName(name: unknown, most: number): name is string {
  return typeof name === 'string' && name.length <= most && NAME.test(name);
}
