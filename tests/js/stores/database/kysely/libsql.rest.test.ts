// The conformance suite over a user's own Kysely with libSQL's dialect, which begins a transaction by a call of its client.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { type Dialect, Kysely } from 'kysely';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { installPackages } from '../../../../toolchain/npm_packages.mjs';
import { eventOf, numbers } from '../cases/concurrency.js';
import { NUL_REFUSALS } from '../cases/refusals.js';
import { closing, conforms } from '../../../conforms.js';
import { newFolder } from '../../../../new_folder.js';

interface LibsqlPackage {
  readonly LibsqlDialect: new (options: { url: string }) => Dialect;
}

const require = createRequire(join(installPackages('libsql'), 'package.json'));
const { LibsqlDialect } = require('@libsql/kysely-libsql') as LibsqlPackage;
const folder = newFolder();
let count = 0;

for (const [title, newUrl] of [
  ['a file', () => `file:${join(folder, `${++count}.db`)}`],
  ['memory', () => ':memory:'],
] as const) {
  conforms(
    `a user's Kysely on libSQL over ${title}`,
    (options) => {
      const kysely = new Kysely<unknown>({ dialect: new LibsqlDialect({ url: newUrl() }) });
      const service = new DatabaseSessionService({ ...options, kysely, engine: 'sqlite' });
      return closing(service, { close: () => kysely.destroy() });
    },
    { expectations: NUL_REFUSALS },
  );

  it(`appends to eight sessions at once lose nothing on libSQL over ${title}`, async () => {
    const kysely = new Kysely<unknown>({ dialect: new LibsqlDialect({ url: newUrl() }) });
    const service = new DatabaseSessionService({ kysely, engine: 'sqlite' });
    const keys = numbers(8).map((n) => ({ appName: 'app', userId: 'u', sessionId: `s${n}` }));
    const sessions = await Promise.all(keys.map((key) => service.createSession(key)));
    await Promise.all(
      sessions.flatMap((session, at) =>
        numbers(10).map((n) =>
          service.appendEvent({ session, event: eventOf(`e${n}`, { [`app:${at}-${n}`]: n }) }),
        ),
      ),
    );
    for (const key of keys) {
      const session = await service.getSession(key);
      assert.deepEqual(
        session?.events.map(({ id }) => id),
        numbers(10).map((n) => `e${n}`),
      );
    }
    const state = await service.getAppState({ appName: 'app' });
    assert.equal(Object.keys(state).length, 80);
    await service.close();
    await kysely.destroy();
  });
}
