// The names under which the package's dependencies fail: drivers, and Node itself. These names are not tested.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../toolchain/environment.mjs';
import type { Poison } from './withstands.js';

/** Names that Node's timers assign to their own objects. */
const TIMERS = ['expiry', 'id'];

/** Names that Node's sockets, timers and streams assign to their own objects. */
const NODE = [
  ...TIMERS, 'buffer', 'bytes', 'current', 'next',
  // When they connect.
  'address', 'addressType', 'localAddress', 'localPort', 'oncomplete', 'port', 'server',
]; // prettier-ignore

/** The names by storage and poison. */
export const DEPENDENCY_NAMES: Partial<Record<string, Partial<Record<Poison, readonly string[]>>>> = {
  // `close` has a time limit.
  memory: { setter: TIMERS },
  adapter: { setter: TIMERS },
  sqlite: {
    // better-sqlite3 assigns the results of `run()` and of an iterator.
    setter: ['changes', 'lastInsertRowid', 'done'],
  },
  'sqlite, while it is subject,': {
    data: [
      // Kysely's compiler reads optional members of its nodes.
      'collation', 'columns', 'explain', 'from', 'ifNotExists', 'limit', 'notNull', 'offset', 'onDelete', 'orderBy', 'output', 'plugins',
      'schema', 'top', 'unique', 'where',
      // better-sqlite3 refuses options with these names, even inherited ones.
      'memory', 'readOnly',
    ],
    setter: [
      // Kysely assigns the methods of its expression builder.
      'count', 'countAll', 'lit', 'max', 'min', 'or', 'ref', 'selectFrom', 'table', 'val',
      // better-sqlite3 assigns the results of `run()`, of an iterator and of `columns()`, and the columns of rows.
      'changes', 'lastInsertRowid', 'done', 'name', 'database', 'type', 'known', 'id', 'memory', 'readOnly',
    ],
  },
  postgresql: {
    // The driver assigns the members of its queries, rows and messages.
    setter: [...NODE, ...assignedBy('pg/lib', 'pg-pool', 'pg-protocol/dist')],
  },
  mariadb: {
    // The driver's connection reads the optional timeout of a query.
    data: ['timeout'],
    // Like pg, and the columns of each row.
    setter: [
      ...NODE, ...assignedBy('mysql2/lib'),
      'app_state', 'app_time', 'create_time', 'event_data', 'floor', 'initial_state', 'invocation_id', 'labels', 'last_update_time', 'later', 'locked',
      'newest', 'replaced_at', 'side_time', 'state', 'title', 'update_time', 'user_id', 'user_state', 'user_time',
    ],
  },
  'Vertex AI': {
    // Node's `fetch` reads these members in its own requests and responses.
    data: ['aborted', 'body', 'error', 'query', 'required', 'signal', 'status', 'window'],
    // It assigns these members, the headers, and an error's code when a connection ends.
    setter: [
      ...NODE,
      'abort', 'aborted', 'body', 'code', 'headers', 'method', 'path', 'redirect', 'request', 'signal', 'state', 'status',
      'authorization', 'content-type',
    ],
  },
}; // prettier-ignore

/** The names of all members that a package's sources assign. */
function assignedBy(...folders: readonly string[]): string[] {
  const names = folders.flatMap((folder) => {
    const path = join(root, 'node_modules', folder);
    const files = readdirSync(path, { encoding: 'utf8', recursive: true });
    const sources = files.filter((file) => file.endsWith('.js') && !file.includes('node_modules'));
    return sources.flatMap((file) => {
      const text = readFileSync(join(path, file), 'utf8');
      return Array.from(text.matchAll(/\.(\w+) \??\??=(?!=)/g), ([, name = '']) => name);
    });
  });
  return [...new Set(names)];
}
