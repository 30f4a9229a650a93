import { keepsSchedules } from './schedules.js';

const setup = { title: 'SQLite', size: 2, urlOf: (log: { sqliteUrl: string }) => log.sqliteUrl };

keepsSchedules(setup, { first: 1, count: 2, lanes: 2 });
