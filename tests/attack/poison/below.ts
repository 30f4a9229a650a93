// The one list of names under which what lies below us fails: drivers, and Node itself. They are not tried.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../toolchain/environment.mjs';
import type { Poison } from './withstands.js';

/** What Node's sockets, timers and streams assign to objects of their own. */
const NODE = ['buffer', 'bytes', 'current', 'id', 'next'];

/** By the storage that a test names. */
export const BELOW: Partial<Record<string, Partial<Record<Poison, readonly string[]>>>> = {
  sqlite: {
    // better-sqlite3 assigns what `run()` and an iterator return.
    setter: ['changes', 'lastInsertRowid', 'done'],
  },
  'sqlite, while it is opened,': {
    data: [
      // Kysely's nodes lack what a query lacks, and its compiler looks it up.
      'collation', 'columns', 'explain', 'from', 'ifNotExists', 'limit', 'notNull', 'offset', 'onDelete', 'orderBy', 'output', 'plugins',
      'schema', 'top', 'unique', 'where',
      // better-sqlite3 refuses options of these names, inherited ones too.
      'memory', 'readOnly',
    ],
    setter: [
      // Kysely assigns the methods of its expression builder.
      'count', 'countAll', 'lit', 'max', 'min', 'or', 'ref', 'selectFrom', 'table', 'val',
      // better-sqlite3 assigns what `run()`, an iterator and `columns()` return, and the columns of rows.
      'changes', 'lastInsertRowid', 'done', 'name', 'database', 'type', 'known', 'id', 'memory', 'readOnly',
    ],
  },
  postgresql: {
    // The driver assigns the members of its queries, rows and messages.
    setter: [...NODE, ...assignedBy('pg/lib', 'pg-pool', 'pg-protocol/dist')],
  },
  mariadb: {
    // A query of the driver lacks a time limit, and its connection looks that up.
    data: ['timeout'],
    // As pg; and the columns of each row.
    setter: [
      ...NODE, ...assignedBy('mysql2/lib'),
      'app_state', 'app_time', 'create_time', 'event_data', 'floor', 'invocation_id', 'last_update_time', 'later', 'locked',
      'newest', 'replaced_at', 'side_time', 'state', 'update_time', 'user_id', 'user_state', 'user_time',
    ],
  },
  'Vertex AI': {
    // Node's `fetch` looks these up in requests and answers of its own.
    data: ['aborted', 'body', 'error', 'required', 'signal', 'status', 'window'],
    // It assigns these, and the headers.
    setter: [
      ...NODE,
      'abort', 'aborted', 'body', 'headers', 'method', 'path', 'redirect', 'request', 'signal', 'state', 'status',
      'authorization', 'content-type',
    ],
  },
}; // prettier-ignore

/** The members that a package's sources assign. */
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
