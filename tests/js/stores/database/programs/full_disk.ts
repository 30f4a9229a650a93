// A program whose shell limits the size of its files; see ../errors.test.ts.
//
//   full_disk.ts PATH   prints as JSON the outcome of an event that exceeds the limit

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { isSessionError } from '../../../../../js/index.js';
import { eventOf } from '../cases/concurrency.js';

const [path = ''] = process.argv.slice(2);
const key = { appName: 'app', userId: 'user', sessionId: 'session' };
const service = new DatabaseSessionService(`sqlite:${path}`);
const session = await service.createSession({ ...key, state: { n: 0 } });
const large = eventOf('large', { n: 1, 'app:n': 1, text: 'x'.repeat(2_000_000) });
const code = await service.appendEvent({ session, event: large }).then(
  () => 'stored',
  (error: unknown) => (isSessionError(error) ? error.code : String(error)),
);
const handle = { ids: session.events.map(({ id }) => id), state: { ...session.state } };
await service.appendEvent({ session, event: eventOf('small', { n: 2 }) });
const stored = await service.getSession(key);
const ids = stored?.events.map(({ id }) => id);
const full = await fill();
process.stdout.write(JSON.stringify({ code, handle, stored: { ids, state: stored?.state }, full }));

/** Writes several times the log's limit. The file has space for the last round. */
async function fill() {
  const id = 'fills';
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const filling = await service.createSession({ ...key, sessionId: id });
    for (let count = 0; count < 10; count += 1) {
      const text = 'x'.repeat(20_000);
      await service.appendEvent({
        session: filling,
        event: eventOf(`${round} ${count}`, { text }),
      });
    }
    const filled = await service.getSession({ ...key, sessionId: id });
    ids.push(filled?.events.at(-1)?.id ?? 'none');
    await service.deleteSession({ ...key, sessionId: id });
  }
  await service.close();
  return ids;
}
