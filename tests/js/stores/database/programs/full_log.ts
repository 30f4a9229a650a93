// A program whose shell limits the size of its files, while a reader prevents that the log is emptied; see ../errors.test.ts.
//
//   full_log.ts PATH   prints as JSON the outcome of each call

import Sqlite from 'better-sqlite3';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';

const [path = ''] = process.argv.slice(2);
const key = { appName: 'app', userId: 'user', sessionId: 'session' };
const service = new DatabaseSessionService(`sqlite:${path}`);
const session = await service.createSession({ ...key, state: { n: 0 } });

const reader = new Sqlite(path, { readonly: true });
reader.exec('begin');
reader.prepare('select count(*) from sessions').get();

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => (isSessionError(error) ? `${error.code}: ${error.message}` : String(error)),
  );

let [appended, refusal] = [0, 'done'];
for (const length of [20_000, 2000, 200, 0]) {
  do {
    const event = eventOf(`${appended}`, { text: 'x'.repeat(length) });
    refusal = await outcome(service.appendEvent({ session, event }));
    if (refusal === 'done') appended += 1;
  } while (refusal === 'done');
}
const deletion = await outcome(service.deleteSession(key));
const storedCount = (await service.getSession(key))?.events.length;
reader.exec('rollback');
reader.close();
const then = [
  await outcome(service.appendEvent({ session, event: eventOf('later') })),
  await outcome(service.deleteSession(key)),
];
const left = (await service.listSessions({ appName: 'app' })).totalItems;
await service.close();
const isWhole = storedCount === appended;
process.stdout.write(JSON.stringify({ refusal, deletion, isWhole, then, left }));
