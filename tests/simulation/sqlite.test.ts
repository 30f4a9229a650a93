import { sqliteBoundary } from './boundaries/sqlite.js';
import { simulate } from './run/seeds.js';

simulate(sqliteBoundary, 50);
