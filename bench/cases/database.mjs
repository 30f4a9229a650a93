// SQL databases: against @google/adk's service on SQLite, google-adk for Python on PostgreSQL, and bare code.

import { sqliteAtOnce } from '../database/at_once.mjs';
import { serverCases } from '../database/servers.mjs';
import { sqliteCases } from '../database/sqlite.mjs';

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function database() {
  return [...(await sqliteCases()), ...(await sqliteAtOnce()), ...(await serverCases())];
}
