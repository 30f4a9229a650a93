// A program that creates sessions with events until it is killed. It prints the id of each one before and after.
//
//   creations.ts URL NAME COUNT   each session has COUNT events

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { createEvent } from '../../../../../js/index.js';

const [url = '', name = '', count] = process.argv.slice(2);
const service = new DatabaseSessionService(url);
await service.ping();
for (let n = 0; ; n += 1) {
  const sessionId = `${name}${n}`;
  const events = Array.from({ length: Number(count) }, (_, at) =>
    createEvent({ id: `e${at}`, author: 'agent', actions: { stateDelta: { at } } }),
  );
  const state = { first: sessionId, [`user:${sessionId}`]: true };
  process.stdout.write('begins\n');
  await service.createSession({ appName: 'app', userId: 'user', sessionId, state, events });
  process.stdout.write(`${sessionId}\n`);
}
