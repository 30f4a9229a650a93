// SQL databases: against @google/adk's service on SQLite, and against bare code.

import { sqliteCases } from '../database/sqlite.mjs';

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function database() {
  return sqliteCases();
}
