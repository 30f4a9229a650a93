// The route of the example for Next that answers, without Next: it takes a `Request`, and returns a `Response`.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { packageFolder, root, run } from '../installed.js';
import { copyExample } from './example.js';

/** Asks, leaves after the first piece, and prints what is stored. */
const PROGRAM = `import { POST } from './app/answer/route';
import { sessions, USER } from './app/sessions';

const session = await sessions.createSession({ ...USER, sessionId: 's1' });
const content = { role: 'user', parts: [{ text: 'Hello!' }] };
await sessions.appendEvent({ session, event: { invocationId: 'i1', author: 'user', content } });
const body = JSON.stringify({ sessionId: 's1', invocationId: 'i1', text: 'Hello!' });
const response = await POST(new Request('http://localhost/answer', { method: 'POST', body }));
const pieces = response.body!.getReader();
await pieces.read();
await pieces.cancel();
let texts: unknown[] = [];
for (let tries = 0; texts.length < 2 && tries < 50; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  const session = await sessions.getSession({ ...USER, sessionId: 's1' });
  texts = (session?.events ?? []).map(({ content }) => content?.parts?.[0]?.text);
}
console.log(JSON.stringify(texts));
process.exit();
`;

it('The example next_app stores an answer whose reader has left', () => {
  const folder = copyExample('next_app', join(root, 'target/examples/next_route'));
  writeFileSync(join(folder, 'program.mts'), PROGRAM);
  const tsx = join(packageFolder('tsx'), 'dist/cli.mjs');
  const texts = JSON.parse(run(process.execPath, [tsx, 'program.mts'], folder)) as unknown;
  assert.deepEqual(texts, ['Hello!', 'You said: Hello!']);
});
