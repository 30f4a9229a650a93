// A program that deletes all sessions of a user but one, until it is killed. It prints the id of each deleted one.
//
//   deletions.ts URL HOW   HOW: 'deleteSessions' or 'retention'

import { DatabaseSessionService } from '../../../../js/database/index.js';

const [url = '', how] = process.argv.slice(2);
const user = { appName: 'app', userId: 'user' };
const retention = how === 'retention' ? { maxSessions: 1 } : undefined;
const service = new DatabaseSessionService(url, { retention });
service.watch(user, {
  onNotice: (notice) => {
    if (notice.type === 'deleted') process.stdout.write(`${notice.sessionId}\n`);
  },
});
const { sessions } = await service.listSessions(user);
if (retention === undefined) {
  const olderThan = sessions.at(-1)?.lastUpdateTime;
  await service.deleteSessions({ ...user, olderThan });
}
// On a busy machine it may be killed too late: everything is deleted by then, and it ends by itself.
setTimeout(() => process.exit(), 5000);
