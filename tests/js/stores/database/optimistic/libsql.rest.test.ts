// The example of a driver for libSQL, with the batch of its own client over a file.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { libsqlDriver } from '../../../../../examples/libsql_driver.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { installPackages } from '../../../../toolchain/npm_packages.mjs';
import { newFolder } from '../../../../new_folder.js';
import { closing, conforms } from '../../../conforms.js';
import { NUL_REFUSALS } from '../cases/refusals.js';

type Client = Parameters<typeof libsqlDriver>[0] & { close(): void };

const require = createRequire(join(installPackages('libsql'), 'package.json'));
const { createClient } = require('@libsql/client') as {
  readonly createClient: (options: { url: string }) => Client;
};
const folder = newFolder();
let count = 0;

conforms(
  'the example libsql_driver.ts over a file',
  (options) => {
    const client = createClient({ url: `file:${join(folder, `${++count}.db`)}` });
    const driver = libsqlDriver(client);
    const service = new DatabaseSessionService({ ...options, driver, engine: 'sqlite' });
    return closing(service, { close: () => Promise.resolve(client.close()) });
  },
  { expectations: NUL_REFUSALS },
);
