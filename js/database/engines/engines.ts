import type { Engine, EngineKind } from './engine.js';
import { MYSQL } from './mysql.js';
import { POSTGRESQL } from './postgresql.js';
import { SQLITE } from './sqlite.js';

/** The engines by kind. */
export const ENGINES: Readonly<Record<EngineKind, Engine>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
};
