// The conformance suite over a database that takes lists of statements.

import Sqlite from 'better-sqlite3';

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { conforms } from '../../../conforms.js';
import { sqliteDriver } from './sqlite_driver.js';

conforms('a driver of lists of statements', (options) => {
  const driver = sqliteDriver(new Sqlite(':memory:'));
  return new DatabaseSessionService({ ...options, driver, engine: 'sqlite' });
});
