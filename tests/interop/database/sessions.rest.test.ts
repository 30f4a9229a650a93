import { SHARED_ENGINES, sqliteFiles } from './shared_databases.js';
import { sharedSessions } from './shared_sessions.js';

for (const [title, start] of SHARED_ENGINES)
  if (start !== sqliteFiles) sharedSessions(title, start);
