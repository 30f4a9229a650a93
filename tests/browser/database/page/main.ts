// A page that keeps its sessions in PGlite, through a Kysely of its own.

import { type DatabaseKyselyOptions, DatabaseSessionService } from 'adk-session-wasm/database';
import { conformance } from 'adk-session-wasm/testing';

interface Pglite {
  readonly kysely: DatabaseKyselyOptions['kysely'];
  clear(): Promise<void>;
}

/** What each case of the conformance suite ended with: nothing, or the message of its error. */
export type Outcomes = Record<string, string>;

async function run(): Promise<Outcomes> {
  // Served beside this page; it imports PGlite and Kysely themselves.
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
