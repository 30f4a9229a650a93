import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import files from '@fastify/static';
import { Runner } from '@google/adk';
import { asAdkService, runWith } from 'adk-session-wasm/adk';
import { DatabaseSessionService, postgresChannel } from 'adk-session-wasm/database';
import { nodeListener, sessionHandler } from 'adk-session-wasm/server';
import Fastify from 'fastify';
import { agent } from './agent.js';

const { DATABASE_URL = 'sqlite:chat.db', PORT = '8080', PROCESSES } = process.env;
/** Signs the cookies. Without a secret of your own, a restart of the server signs everybody out. */
const { SECRET = randomBytes(32).toString('hex') } = process.env;

const service = new DatabaseSessionService(DATABASE_URL, {
  autoTitle: true,
  artifacts: true,
  channel: /^postgres(ql)?[:+]/.test(DATABASE_URL) ? postgresChannel(DATABASE_URL) : undefined,
});
await service.ping();
const runner = new Runner({ appName: 'chat', agent, sessionService: asAdkService(service) });

const sign = (text: string): string =>
  createHmac('sha256', SECRET).update(text).digest('base64url');

/** Returns the user whose signed cookie a request has. */
function userOf(cookies: string | null): string | undefined {
  const [, name = '', signature = ''] = /\buser=([\w-]+)\.([\w-]+)/.exec(cookies ?? '') ?? [];
  const [given, own] = [Buffer.from(signature), Buffer.from(sign(name))];
  const isSigned = given.length === own.length && timingSafeEqual(given, own);
  return isSigned ? Buffer.from(name, 'base64url').toString() : undefined;
}

const handler = sessionHandler(service, {
  basePath: '/api',
  authorize: (request, { userId, action }) => {
    const user = userOf(request.headers.get('cookie'));
    if (user === undefined) return 'unauthenticated';
    // No user owns the state of the app, which a page over a cache reads.
    return user === userId || action === 'getAppState';
  },
  run: runWith(runner),
  processes: PROCESSES === 'many' ? 'many' : undefined,
});
const serveSessions = nodeListener(handler);

const app = Fastify({ forceCloseConnections: true });
app.register(files, { root: new URL('dist', import.meta.url).pathname });

// The handler reads the bodies of its requests itself.
app.register(async (api) => {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('*', (_request, _body, done) => done(null));
  api.all('/api/*', (request, reply) => {
    reply.hijack();
    void serveSessions(request.raw, reply.raw);
  });
});

/** Signs in. A real server asks for a password too. */
app.post<{ Body: { name: string } }>('/sign-in', (request, reply) => {
  const name = Buffer.from(request.body.name).toString('base64url');
  const cookie = `user=${name}.${sign(name)}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`;
  return reply.header('set-cookie', cookie).send({});
});
app.post('/sign-out', (_request, reply) =>
  reply.header('set-cookie', 'user=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0').send({}),
);

await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log(`http://localhost:${PORT}`);

// First the runs and the feeds, then the requests, then the database.
process.once('SIGTERM', async () => {
  await handler.close();
  await app.close();
  await service.close();
});
