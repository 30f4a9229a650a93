// A program that searches for the first time until it is killed. It prints a line whenever it has read a session.
//
//   searches.ts URL

import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { sessionSearch } from '../../../../../js/service/search/index.js';

const service = new DatabaseSessionService(process.argv[2] ?? '');
const { getSession } = service;
service.getSession = async (request) => {
  const session = await getSession.call(service, request);
  process.stdout.write('read\n');
  return session;
};
await sessionSearch(service).find({ appName: 'app', userId: 'user', query: 'tea' });
await service.close();
