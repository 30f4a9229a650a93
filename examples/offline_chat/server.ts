/**
 * The server of the offline chat: sessions in PostgreSQL, an agent that answers, and the page.
 *
 *   node --import tsx examples/offline_chat/server.ts postgresql://user@localhost/chat 8080
 */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { nodeListener, sessionHandler } from 'adk-session-wasm/server';
import { build } from 'esbuild';

const [, , databaseUrl = 'postgresql://localhost/chat', port = '8080'] = process.argv;
const service = new DatabaseSessionService(databaseUrl);

const handler = sessionHandler(service, {
  basePath: '/api',
  // A real server would check a session cookie or a token. The agent runs here, so pages write messages only.
  authorize: (request, { userId }) => userId === request.headers.get('x-user'),
});
const serveSessions = nodeListener(handler);

const { outputFiles } = await build({
  entryPoints: ['page', 'service_worker'].map((name) =>
    fileURLToPath(new URL(`${name}.ts`, import.meta.url)),
  ),
  bundle: true,
  format: 'esm',
  outdir: '/',
  write: false,
});
const scripts = new Map(outputFiles.map(({ path, text }) => [path, text]));
const page =
  '<!doctype html><meta charset="utf-8"><title>Chat</title><script type="module" src="/page.js"></script>';

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const script = scripts.get(pathname);
  if (pathname.startsWith('/api/')) void serveSessions(request, response);
  else if (script !== undefined) {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  } else if (pathname === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  else response.writeHead(404).end();
});
const notices = service.watch({ appName: 'chat' });
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));

// No new requests, then no feeds, then the database.
process.once('SIGTERM', () => {
  server.close(() => void service.close());
  handler.close();
});

// Answers each message of a user. A real agent would ask a model here.
for await (const notice of notices) {
  if (notice.type !== 'appended') continue;
  const { appName, userId, sessionId } = notice;
  const session = await service.getSession({ appName, userId, sessionId });
  const last = session?.events.at(-1);
  if (session === undefined || last?.author !== 'user') continue;
  const parts = [{ text: `You said: ${last.content?.parts?.[0]?.text}` }];
  const event = { author: 'agent', invocationId: last.invocationId, content: { parts } };
  await service.appendEvent({ session, event });
}
