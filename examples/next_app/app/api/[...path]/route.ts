import { sessionHandler } from 'adk-session-wasm/server';
import { sessions, USER } from '../../sessions';

const handler = sessionHandler(sessions, {
  basePath: '/api',
  // A real app compares with the user whom the request's cookie proves.
  authorize: (_request, { userId, action }) => userId === USER.userId || action === 'getAppState',
});

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST, handler as PUT };
