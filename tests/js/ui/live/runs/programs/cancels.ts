// A program that cancels what runs in the session of the tests. It runs nothing itself.
//
//   cancels.ts URL

import { DatabaseSessionService } from '../../../../../../js/service/database/index.js';
import { echo, openChat } from '../agents.js';

const service = new DatabaseSessionService(process.argv[2] ?? '');
const { chat, stop } = await openChat(echo, { service });
await chat.cancel();
stop();
await service.close();
