import { FIVE_KILL_POINTS, losesNothing } from './killed_server.js';

losesNothing('SQLite', (log) => log.sqliteUrl, FIVE_KILL_POINTS);
