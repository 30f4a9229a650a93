/** The statements over the tables of files. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine, StoredTime } from '../engine/engine.js';
import { Prepared } from '../engine/prepared.js';
import { guardStatement } from '../statements/session_statements.js';
import type { Layout } from '../tables/layout.js';
import { FILE_CHUNKS, FILES } from '../tables/table_names.js';
import type { Database } from '../tables/tables.js';

/** The key of an owner, as the names of the statements' values. */
export interface OwnerKey {
  readonly app: string;
  readonly user: string;
  /** The id of the session; empty for the user. */
  readonly owner: string;
}

interface FileKey extends OwnerKey {
  readonly name: string;
}

/** The columns of a version. Some drivers return a `bigint` as a text. */
export interface FileColumns {
  version: number;
  content: string | null;
  size: number | string;
  facts: string;
  create_time: number | string;
}

/** When a session was created: a later one with its id has another time. */
export interface SessionTime {
  create_time: StoredTime;
}

type ChunkKey = OwnerKey & { readonly content: string; readonly position: number };

/** Makes the statements of files. */
export function fileStatements(
  database: Database,
  { queries: { hasOnConflict, time } }: Engine,
  layout: Layout,
) {
  const ofOwner = (value: (name: keyof OwnerKey) => string): RawBuilder<boolean> =>
    sql`${sql.ref('app_name')} = ${value('app')} and ${sql.ref('user_id')} = ${value('user')}
      and ${sql.ref('owner')} = ${value('owner')}`;
  /** The condition that no version has the content of a chunk. */
  const isUnused = sql<boolean>`not exists (select 1 from ${sql.table(FILES)} as used
    where used.app_name = ${sql.ref(`${FILE_CHUNKS}.app_name`)} and used.user_id = ${sql.ref(`${FILE_CHUNKS}.user_id`)}
    and used.owner = ${sql.ref(`${FILE_CHUNKS}.owner`)} and used.content = ${sql.ref(`${FILE_CHUNKS}.content`)})`;
  /** A number of rows, as a text: guards compare texts. */
  const countText = (column: string) => sql<string>`cast(count(${sql.ref(column)}) as text)`;
  const guardVersions = guardStatement<FileKey>(database, layout, (value) =>
    database
      .selectFrom(`${FILES} as files`)
      // The next number grows with each version, also if a deletion has left the last one alone.
      .select(
        sql<string>`${countText('content')} || ' of ' || ${countText('version')} || ' before '
        || cast(coalesce(max(${sql.ref('version')}), -1) + 1 as text)`.as('seen'),
      )
      .where(ofOwner(value))
      .where('name', '=', value('name')),
  );
  const guardChunks = guardStatement<OwnerKey & { content: string }>(database, layout, (value) =>
    database
      .selectFrom(FILE_CHUNKS)
      .select(countText('position').as('seen'))
      .where(ofOwner(value))
      .where('content', '=', value('content')),
  );
  const usage = (isOne: boolean) =>
    new Prepared<OwnerKey, { versions: number | string; bytes: number | string | null }>((value) =>
      database
        .selectFrom(`${FILES} as files`)
        .select(({ fn }) => [fn.count('size').as('versions'), fn.sum('size').as('bytes')])
        .where('content', 'is not', null)
        .where(
          isOne
            ? ofOwner(value)
            : sql<boolean>`${sql.ref('app_name')} = ${value('app')} and ${sql.ref('user_id')} = ${value('user')}`,
        ),
    );
  return {
    usage: { session: usage(true), user: usage(false) },
    names: new Prepared<OwnerKey, { name: string }>((value) =>
      database
        .selectFrom(`${FILES} as files`)
        .select('name')
        .distinct()
        .where(ofOwner(value))
        .where('content', 'is not', null),
    ),
    versions: new Prepared<FileKey, FileColumns>(
      (value) =>
        database
          .selectFrom(`${FILES} as files`)
          .select(['version', 'content', 'size', 'facts', 'create_time'])
          .where(ofOwner(value))
          .where('name', '=', value('name'))
          .orderBy('version'),
      (key, rows) => {
        const stored = rows.filter(({ content }) => content !== null).length;
        const next = (rows.at(-1)?.version ?? -1) + 1;
        return guardVersions(key, `${stored} of ${rows.length} before ${next}`);
      },
    ),
    sessionTime: new Prepared<OwnerKey, SessionTime>((value) =>
      database
        .selectFrom('sessions')
        .select(time(sql.ref('create_time')).as('create_time'))
        .where('app_name', '=', value('app'))
        .where('user_id', '=', value('user'))
        .where('id', '=', value('owner')),
    ),
    /** Counts the chunks of a content. */
    chunks: new Prepared<OwnerKey & { content: string }, { count: number | string }>(
      (value) =>
        database
          .selectFrom(FILE_CHUNKS)
          .select(({ fn }) => fn.count('position').as('count'))
          .where(ofOwner(value))
          .where('content', '=', value('content')),
      (key, [row]) => guardChunks(key, String(row?.count ?? 0)),
    ),
    /** Reads a chunk. D1 returns an array of numbers, others an `ArrayBuffer`. */
    chunk: new Prepared<ChunkKey, { bytes: Uint8Array | ArrayBuffer | readonly number[] }>(
      (value) =>
        database
          .selectFrom(FILE_CHUNKS)
          .select('bytes')
          .where(ofOwner(value))
          .where('content', '=', value('content'))
          .where('position', '=', value('position')),
    ),
    /** Stores a chunk. If it is there, only its time changes: it is used again. */
    putChunk: new Prepared<
      ChunkKey & { session: string | null; bytes: Uint8Array; time: number },
      never
    >((value) => {
      const row = database.insertInto(FILE_CHUNKS).values({
        app_name: value('app'),
        user_id: value('user'),
        owner: value('owner'),
        session_id: value('session'),
        content: value('content'),
        position: value('position'),
        bytes: value('bytes'),
        create_time: value('time'),
      });
      if (!hasOnConflict) return row.onDuplicateKeyUpdate({ create_time: value('time') });
      return row.onConflict((conflict) =>
        conflict
          .columns(['app_name', 'user_id', 'owner', 'content', 'position'])
          .doUpdateSet({ create_time: value('time') }),
      );
    }),
    insert: new Prepared<
      FileKey & {
        session: string | null;
        version: number;
        content: string | null;
        size: number;
        facts: string;
        time: number;
      },
      never
    >((value) =>
      database.insertInto(FILES).values({
        app_name: value('app'),
        user_id: value('user'),
        owner: value('owner'),
        session_id: value('session'),
        name: value('name'),
        version: value('version'),
        content: value('content'),
        size: value('size'),
        facts: value('facts'),
        create_time: value('time'),
      }),
    ),
    deleteAll: new Prepared<FileKey, never>((value) =>
      database.deleteFrom(FILES).where(ofOwner(value)).where('name', '=', value('name')),
    ),
    deleteTombstone: new Prepared<FileKey & { version: number }, never>((value) =>
      database
        .deleteFrom(FILES)
        .where(ofOwner(value))
        .where('name', '=', value('name'))
        .where('version', '=', value('version'))
        .where('content', 'is', null),
    ),
    /** Deletes the chunks that no version names. `before`: only those that were put earlier. */
    deleteUnused: new Prepared<OwnerKey & { before: number }, never>((value) =>
      database
        .deleteFrom(FILE_CHUNKS)
        .where(ofOwner(value))
        .where('create_time', '<', value('before'))
        .where(isUnused),
    ),
    deleteUnusedContent: new Prepared<OwnerKey & { content: string }, never>((value) =>
      database
        .deleteFrom(FILE_CHUNKS)
        .where(ofOwner(value))
        .where('content', '=', value('content'))
        .where(isUnused),
    ),
    /** Copy the files of a session to another one. */
    copy: {
      files: new Prepared<OwnerKey & { to: string }, never>((value) =>
        copyRows(FILES, ['name', 'version', 'content', 'size', 'facts', 'create_time'], value),
      ),
      chunks: new Prepared<OwnerKey & { to: string }, never>((value) =>
        copyRows(FILE_CHUNKS, ['content', 'position', 'bytes', 'create_time'], value),
      ),
    },
  };

  function copyRows(
    table: typeof FILES | typeof FILE_CHUNKS,
    columns: readonly string[],
    value: (name: 'app' | 'user' | 'owner' | 'to') => string,
  ) {
    const copied = sql.join(columns.map((column) => sql.ref(column)));
    const statement = sql<never>`insert into ${sql.table(table)}
      (app_name, user_id, owner, session_id, ${copied})
      select app_name, user_id, ${value('to')}, ${value('to')}, ${copied}
      from ${sql.table(table)} where ${ofOwner(value)}`;
    return { compile: () => statement.compile(database) };
  }
}
