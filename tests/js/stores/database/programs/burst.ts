// A program that appends as fast as it can, and prints the id of each acknowledged event.
//
//   burst.ts URL NAME COUNT   appends COUNT events, then closes; with Infinity, it appends until it is killed

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { createEvent } from '../../../../../js/index.js';

const [url = '', name = '', count] = process.argv.slice(2);
const service = new DatabaseSessionService(url);
const session = await service.getOrCreateSession({
  appName: 'app',
  userId: 'user',
  sessionId: 'session',
});
for (let n = 0; n < Number(count); n += 1) {
  const event = createEvent({ id: `${name}${n}`, author: 'agent', invocationId: 'i' });
  event.actions.stateDelta = { [`${name} last`]: n };
  await service.appendEvent({ session, event });
  process.stdout.write(`${name}${n}\n`);
}
await service.close();
