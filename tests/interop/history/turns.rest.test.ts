import { sqliteFiles, SHARED_ENGINES } from '../database/shared_databases.js';
import { takeTurns } from './turns.js';

for (const [title, start] of SHARED_ENGINES) if (start !== sqliteFiles) takeTurns(title, start);
