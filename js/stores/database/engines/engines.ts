import type { Engine, EngineKind } from '../engine/engine.js';
import { MYSQL } from './mysql/mysql.js';
import { POSTGRESQL } from './postgresql/postgresql.js';
import { SQLITE } from './sqlite/sqlite.js';

/** The engines by kind. */
export const ENGINES: Readonly<Record<EngineKind, Engine>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
};
