import { keepsSchedules } from './schedules.js';

keepsSchedules('SQLite', (log) => log.sqliteUrl, [1, 3]);
