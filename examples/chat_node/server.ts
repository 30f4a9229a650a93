import { readFile } from 'node:fs/promises';
import { serve } from '@hono/node-server';
import { Invocation } from 'adk-session-wasm';
import { DatabaseSessionService } from 'adk-session-wasm/database';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { streamText } from 'hono/streaming';
import { reply } from './model.js';

const { DATABASE_URL = 'postgresql://postgres@localhost/postgres', PORT = '8080' } = process.env;

// One service for the process: all requests share its pool of connections.
const sessions = new DatabaseSessionService(DATABASE_URL, { autoTitle: true });
const app = new Hono();

/** Returns the owner of the conversations that a request may see. A cookie names the browser; a real server checks a login. */
function ownerOf(context: Context) {
  const userId = getCookie(context, 'user') ?? crypto.randomUUID();
  setCookie(context, 'user', userId, { httpOnly: true, sameSite: 'Strict', maxAge: 31_536_000 });
  return { appName: 'chat', userId };
}

app.get('/', async (context) => {
  ownerOf(context);
  return context.html(await readFile(new URL('page.html', import.meta.url), 'utf8'));
});

app.get('/chats', async (context) => {
  const newest = { order: 'desc', limit: 20, withTotal: false } as const;
  const { sessions: found } = await sessions.listSessions({ ...ownerOf(context), ...newest });
  return context.json(found.map(({ id, title }) => ({ id, title })));
});

app.get('/chats/:sessionId', async (context) => {
  const key = { ...ownerOf(context), sessionId: context.req.param('sessionId') };
  const session = await sessions.getSession({ ...key, config: { numRecentEvents: 50 } });
  const events = session?.events ?? [];
  return context.json(events.map(({ content }) => content?.parts?.[0]?.text));
});

app.post('/chats/:sessionId', async (context) => {
  const text = await context.req.text();
  const content = { role: 'user', parts: [{ text }] };
  // A handle of this request alone.
  const session = await sessions.getOrCreateSession({
    ...ownerOf(context),
    sessionId: context.req.param('sessionId'),
  });
  const invocation = new Invocation({ service: sessions, session, userContent: content });
  await invocation.append({ author: 'user', content });
  return streamText(context, async (pieces) => {
    let answer = '';
    for await (const piece of reply(session.events)) {
      answer += piece;
      await pieces.write(piece);
    }
    // Stored before the stream ends: whoever has read it all finds it after a reload.
    await invocation.append({
      author: 'guide',
      content: { role: 'model', parts: [{ text: answer }] },
    });
    invocation.end();
  });
});

await sessions.ping();
const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`http://localhost:${port}`);
});

// No new requests, then the answers under way, then the pool.
process.once('SIGTERM', () => server.close(() => void sessions.close()));
