// A program that appends as fast as it can, and prints the id of each event once it is told that it is stored.
//
//   burst.ts URL        until it is killed
//   burst.ts URL once   one event, then closes

import { DatabaseSessionService } from '../../../js/database/index.js';
import { createEvent } from '../../../js/index.js';

const [url = '', once] = process.argv.slice(2);
const service = new DatabaseSessionService(url);
const session = await service.getOrCreateSession({
  appName: 'app',
  userId: 'user',
  sessionId: 'session',
});
for (let n = 0; n < (once === 'once' ? 1 : Infinity); n += 1) {
  const event = createEvent({ id: `e${n}`, author: 'agent', invocationId: 'i' });
  event.actions.stateDelta = { last: n };
  await service.appendEvent({ session, event });
  process.stdout.write(`e${n}\n`);
}
await service.close();
