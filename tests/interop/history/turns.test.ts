import { sqliteFiles } from '../database/shared_databases.js';
import { takeTurns } from './turns.js';

takeTurns('one SQLite file', sqliteFiles);
