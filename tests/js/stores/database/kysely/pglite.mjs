// A Kysely over PGlite (PostgreSQL as wasm, in Node and in pages), as a user would write it. This file is plain
// JavaScript, so that a page of the browser tests can load it.

import { PGlite } from '@electric-sql/pglite';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { clearing } from './clearing.mjs';

/** One connection. One caller at a time uses it. */
class PgliteDriver {
  #database;
  #last = Promise.resolve();
  #release;

  constructor(database) {
    this.#database = database;
  }

  async acquireConnection() {
    const before = this.#last;
    let release;
    this.#last = new Promise((resolve) => (release = resolve));
    await before;
    this.#release = release;
    const database = this.#database;
    return {
      async executeQuery({ sql, parameters }) {
        const { rows } = await database.query(sql, [...parameters]);
        return { rows };
      },
    };
  }

  beginTransaction(connection, { isolationLevel, accessMode = 'read write' }) {
    const sql = `begin isolation level ${isolationLevel} ${accessMode}`;
    return connection.executeQuery({ sql, parameters: [] });
  }

  commitTransaction(connection) {
    return connection.executeQuery({ sql: 'commit', parameters: [] });
  }

  rollbackTransaction(connection) {
    return connection.executeQuery({ sql: 'rollback', parameters: [] });
  }

  releaseConnection() {
    return Promise.resolve(this.#release());
  }

  init() {
    return Promise.resolve();
  }

  destroy() {
    return Promise.resolve();
  }
}

/** An empty database in memory. */
export async function openPglite() {
  const database = await PGlite.create();
  const kysely = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PgliteDriver(database),
      createIntrospector: (known) => new PostgresIntrospector(known),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    kysely,
    /** Drops all tables. */
    async empty() {
      await database.exec('drop schema public cascade; create schema public');
    },
    /** Deletes all rows, which is faster. */
    async clear() {
      await database.exec(clearing('public'));
    },
    close: () => database.close(),
  };
}
