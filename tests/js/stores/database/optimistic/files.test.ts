// Files in a database that takes lists of statements.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import {
  DatabaseSessionService,
  type OptimisticDriver,
} from '../../../../../js/service/database/index.js';
import { bytesOf as contentOf, FILE_BEHAVIOURS } from '../../../service/artifacts/behaviours.js';
import { sqliteDriver } from './sqlite_driver.js';

/** Bytes as a driver returns them, such as that of D1. */
type BytesOf = (bytes: Uint8Array) => Uint8Array | ArrayBuffer | readonly number[];

/** A driver whose rows have bytes in another form. Like a host without `Buffer`, it takes none. */
function driverOf(bytesOf: BytesOf): OptimisticDriver {
  const driver = sqliteDriver(new Sqlite(':memory:'));
  const { read, commit } = driver;
  return Object.assign(driver, {
    read: async (statements) =>
      (await read(statements)).map((rows) =>
        rows.map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]: [string, unknown]) => [
              name,
              value instanceof Uint8Array ? bytesOf(value) : value,
            ]),
          ),
        ),
      ),
    commit(guards, statements) {
      for (const value of statements.flatMap(({ values }) => values)) {
        assert.ok(!Buffer.isBuffer(value), 'it got a Buffer');
      }
      return commit.call(driver, guards, statements);
    },
  } satisfies OptimisticDriver);
}

for (const [title, bytesOf] of [
  ['an array of numbers, as from D1', (bytes) => [...bytes]],
  ['an ArrayBuffer', (bytes) => new Uint8Array(bytes).buffer],
] as const satisfies readonly (readonly [string, BytesOf])[]) {
  describe(`Files over a driver of lists of statements whose bytes are ${title}`, () => {
    for (const [title, run] of FILE_BEHAVIOURS) {
      it(title, () => {
        const driver = driverOf(bytesOf);
        return run(new DatabaseSessionService({ driver, engine: 'sqlite', artifacts: true }));
      });
    }
  });
}

describe('Between two calls of a driver', () => {
  const key = { appName: 'app', userId: 'user', sessionId: 'session' };
  for (const prefix of ['', 'user:']) {
    const [x, y] = ['x', 'y'].map((name) => ({ ...key, filename: prefix + name }));

    /** Returns two services over one database. The first one waits for `meanwhile` before its next commit. */
    const twoServices = async () => {
      const database = new Sqlite(':memory:');
      const driver = sqliteDriver(database);
      const [first, second] = [driver, sqliteDriver(database)].map(
        (driver) => new DatabaseSessionService({ driver, engine: 'sqlite', artifacts: true }),
      );
      await first!.createSession(key);
      const beforeCommit = (meanwhile: () => Promise<unknown>) => {
        const { commit } = driver;
        driver.commit = async (guards, statements) => {
          driver.commit = commit;
          await meanwhile();
          return commit.call(driver, guards, statements);
        };
      };
      return { first: first!.artifacts, second: second!.artifacts, beforeCommit };
    };

    it(`another file with the bytes of a put may be deleted, and the bytes stay: ${prefix}y`, async () => {
      const { first, second, beforeCommit } = await twoServices();
      await first.put({ ...x!, data: contentOf(9) });
      beforeCommit(() => second.deleteArtifact(x!));
      await first.put({ ...y!, data: contentOf(9) });
      assert.equal((await first.open(y!))?.size, 9);
    });

    it(`a version may be put while its file is deleted, and no number is given twice: ${prefix}x`, async () => {
      const { first, second, beforeCommit } = await twoServices();
      const numbers: number[] = [];
      const put = async () => {
        numbers.push((await second.put({ ...x!, data: contentOf(9) })).version);
      };
      await put();
      beforeCommit(put);
      await first.deleteArtifact(x!);
      await put();
      assert.deepEqual(numbers, [0, 1, 2]);
    });
  }
});
