// A page that stores its sessions in PGlite, through its own Kysely.

import { type DatabaseKyselyOptions, DatabaseSessionService } from 'adk-session-wasm/database';
import { conformance } from 'adk-session-wasm/testing';

interface Pglite {
  readonly kysely: DatabaseKyselyOptions['kysely'];
  clear(): Promise<void>;
}

/** The result of each case of the conformance suite: empty, or the message of its error. */
export type Outcomes = Record<string, string>;

async function run(): Promise<Outcomes> {
  // This module is served separately. It imports PGlite and Kysely.
  const path = '/pglite.mjs';
  const { openPglite } = (await import(path)) as { openPglite: () => Promise<Pglite> };
  const pglite = await openPglite();
  const outcomes: Outcomes = {};
  const cases = conformance(async (options) => {
    await pglite.clear();
    return new DatabaseSessionService({ ...options, kysely: pglite.kysely, engine: 'postgresql' });
  });
  for (const testCase of cases) {
    outcomes[testCase.name] = await testCase.run().then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  }
  return outcomes;
}

Object.assign(globalThis, { report: run() });
