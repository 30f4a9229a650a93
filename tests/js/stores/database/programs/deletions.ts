// A program that deletes all sessions of a user but the last one, until it is killed. It prints the id of each deleted
// one.
//
//   deletions.ts URL

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';

const [url = ''] = process.argv.slice(2);
const user = { appName: 'app', userId: 'user' };
const service = new DatabaseSessionService(url);
service.watch(user, {
  onNotice: (notice) => {
    if (notice.type === 'deleted') process.stdout.write(`${notice.sessionId}\n`);
  },
});
const { sessions } = await service.listSessions(user);
await service.deleteSessions({ ...user, olderThan: sessions.at(-1)?.lastUpdateTime });
// On a busy machine it may be killed too late: everything is deleted by then, and it ends by itself.
setTimeout(() => process.exit(), 5000);
