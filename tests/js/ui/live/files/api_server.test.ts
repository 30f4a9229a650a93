import { it } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { KEY } from '../stores.js';

/** Answers as `adk api_server` does. It stores the message of a run, and one answer. */
function apiServer() {
  const events: object[] = [];
  const asked: { newMessage: { parts: unknown[] }; customMetadata: object }[] = [];
  const eventOf = (author: string, more: object) => ({
    id: `e${events.length}`,
    invocationId: 'i1',
    author,
    timestamp: 1 + events.length,
    actions: { stateDelta: {}, artifactDelta: {} },
    ...more,
  });
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/version') return Response.json({ language: 'python', version: '2.13.0' });
    if (pathname === '/run_sse') {
      const body = (await request.json()) as (typeof asked)[number];
      asked.push(body);
      const { newMessage: content, customMetadata } = body;
      events.push(eventOf('user', { content, customMetadata }));
      const answer = eventOf('guide', { content: { role: 'model', parts: [{ text: 'Tea.' }] } });
      events.push(answer);
      const headers = { 'content-type': 'text/event-stream' };
      return new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers });
    }
    const { appName, userId, sessionId: id } = KEY;
    return Response.json({ id, appName, userId, state: {}, lastUpdateTime: 9, events });
  };
  return {
    asked,
    fetch: (input: Request | URL | string, init?: RequestInit) => answer(new Request(input, init)),
  };
}

it('A message with files over adk api_server has them inline', async () => {
  const server = apiServer();
  const remote = new RemoteSessionService({ url: 'http://localhost', fetch: server.fetch });
  const chat = liveSession(remote, KEY);
  await chat.load();
  const file = new File(['picture'], 'tea.png', { type: 'image/png' });
  const named = { name: 'cup.png', data: new Blob(['cup'], { type: 'image/png' }) };
  await chat.ask('What is on it?', { files: [file, named] });
  const inlineData = { mimeType: 'image/png', data: btoa('picture'), displayName: 'tea.png' };
  const cup = { mimeType: 'image/png', data: btoa('cup'), displayName: 'cup.png' };
  deepEqual(
    server.asked.map(({ newMessage }) => newMessage.parts),
    [[{ text: 'What is on it?' }, { inlineData }, { inlineData: cup }]],
  );
  await remote.close();
});
