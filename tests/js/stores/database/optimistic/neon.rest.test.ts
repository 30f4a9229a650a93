// The example of a driver for Neon, with Neon's own client. PGlite answers its requests, as Neon's server would.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { PGlite } from '@electric-sql/pglite';

import { neonDriver } from '../../../../../examples/neon_driver.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { installPackages } from '../../../../toolchain/npm_packages.mjs';
import { conforms } from '../../../conforms.js';
import { POSTGRESQL_EXPECTATIONS } from '../cases/refusals.js';
import { clearing } from '../kysely/clearing.mjs';

interface NeonPackage {
  readonly neon: (url: string) => Parameters<typeof neonDriver<object>>[0];
  readonly neonConfig: { fetchFunction: (url: string, init: RequestInit) => Promise<Response> };
}

interface Batch {
  readonly queries: readonly { readonly query: string; readonly params: readonly unknown[] }[];
}

const require = createRequire(join(installPackages('neon'), 'package.json'));
const { neon, neonConfig } = require('@neondatabase/serverless') as NeonPackage;

/** The types whose values the server sends as texts: whole numbers, texts, truth values. */
const parsers = Object.fromEntries(
  [16, 18, 19, 20, 21, 23, 25, 1043].map((type) => [type, String]),
);

const LEVELS: Readonly<Record<string, string>> = {
  Serializable: 'serializable',
  RepeatableRead: 'repeatable read',
};

/** Runs a batch in one transaction. */
async function answer(database: PGlite, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  assert.equal(headers.get('neon-array-mode'), 'true');
  const level = LEVELS[headers.get('neon-batch-isolation-level') ?? ''] ?? '';
  const access = headers.get('neon-batch-read-only') === 'true' ? 'read only' : 'read write';
  const { queries } = JSON.parse(init.body as string) as Batch;
  try {
    const results = await database.transaction(async (transaction) => {
      await transaction.query(`set transaction isolation level ${level} ${access}`);
      const results: object[] = [];
      for (const { query, params } of queries) {
        const options = { rowMode: 'array', parsers } as const;
        const { fields, rows } = await transaction.query(query, [...params], options);
        results.push({ command: '', rowCount: rows.length, fields, rows });
      }
      return results;
    });
    return Response.json({ results });
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    return Response.json({ message, code }, { status: 400 });
  }
}

let database: PGlite;
before(async () => {
  database = await PGlite.create();
  neonConfig.fetchFunction = (_url, init) => answer(database, init);
});
after(() => database.close());

conforms(
  "the example neon_driver.ts with Neon's client over PGlite",
  async (options) => {
    await database.exec(clearing('public'));
    const driver = neonDriver(neon('postgresql://user:secret@ep-one.neon.tech/sessions'));
    return new DatabaseSessionService({ ...options, driver, engine: 'postgresql' });
  },
  { expectations: POSTGRESQL_EXPECTATIONS },
);
