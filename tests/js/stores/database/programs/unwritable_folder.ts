// A program that may not write to the folder of a SQLite file; see ../access/unwritable_folder.test.ts.
//
//   unwritable_folder.ts PATH USER   prints as JSON the outcome of a read

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';

const [path = '', user = ''] = process.argv.slice(2);
// Opened once before the change of user, who may not be able to read the package's files.
const before = new DatabaseSessionService('sqlite::memory:');
await before.ping();
await before.close();
// Root may write to any folder.
if (process.getuid?.() === 0) process.setuid?.(Number(user));

const service = new DatabaseSessionService(`sqlite:${path}`, { driverOptions: { readonly: true } });
const outcome = await service.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' }).then(
  (session) => session?.id ?? 'nothing',
  (error: unknown) => (isSessionError(error) ? error.code : String(error)),
);
await service.close();
process.stdout.write(JSON.stringify(outcome));
