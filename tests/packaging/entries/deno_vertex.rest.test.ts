// Vertex AI in Deno, with Deno's own `fetch` and without further packages.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
import { runInDenoBeside } from '../host_tools.js';
import { install, NAME, write } from '../installed.js';

let server: VertexServer;
before(async () => {
  // Deno requires node_modules to match the manifest, and may not download packages.
  const manifest = { name: 'consumer', type: 'module', dependencies: { [NAME]: '*' } };
  writeFileSync(join(install().project, 'package.json'), JSON.stringify(manifest));
  server = await startVertexServer();
});
after(() => server.end());

it('Deno stores sessions in an agent engine', async () => {
  const main = `
    import { createEvent } from 'adk-session-wasm';
    import { getSessionServiceFromUri } from 'adk-session-wasm/uri';
    import { VertexAiSessionService } from 'adk-session-wasm/vertex';

    const engine = 'projects/my-project/locations/us-central1/reasoningEngines/123';
    const options = { accessToken: 'a-token', baseUrl: '${server.url}' };
    const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
    const first = new VertexAiSessionService({ agentEngineId: engine, ...options });
    const session = await first.createSession({ ...key, state: { 'user:name': 'Ada' } });
    const event = createEvent({ author: 'user', content: { parts: [{ text: 'grüß 👋' }] } });
    event.actions.stateDelta = { topic: 'tea' };
    await first.appendEvent({ session, event });
    await first.close();

    const second = getSessionServiceFromUri('agentengine://' + engine, options);
    const read = await second.getSession(key);
    const texts = read.events.map(({ content }) => content.parts[0].text);
    await second.deleteSession(key);
    const { sessions } = await second.listSessions(key);
    await second.close();
    console.log(JSON.stringify({ texts, state: read.state, left: sessions.length }));`;
  const folder = write('vertex', { 'main.mjs': main });
  const printed = await runInDenoBeside(folder, 'main.mjs', ['read', 'env', 'net']);
  assert.deepEqual(JSON.parse(printed), {
    texts: ['grüß 👋'],
    state: { 'user:name': 'Ada', topic: 'tea' },
    left: 0,
  });
});
