// The page that is killed with its browser: it reports what its cache has without the server, then writes until the kill.
// With `?drain` it waits until everything is sent.

import { givenUp } from '../../indexed_db/page/loss/given_up.js';
import * as chat from './chat.js';

const query = new URLSearchParams(location.search);
const SESSIONS = ['one', 'two'];

const tell = (path: string, body: string): Promise<unknown> =>
  fetch(path, { method: 'POST', body });

async function writeForEver(sessionId: string): Promise<never> {
  for (let number = 0; ; number += 1) {
    const text = `${query.get('run')}:${sessionId}:${number}`;
    await chat.write(sessionId, [text]);
    await tell('/acknowledge', text);
  }
}

async function run(): Promise<void> {
  chat.open(query.get('server') ?? '', 'ada');
  if (query.has('drain')) {
    await chat.untilSent();
    await tell('/found', JSON.stringify({ givenUp: givenUp() }));
    return;
  }
  const sessions: Record<string, string[]> = {};
  for (const name of SESSIONS) {
    await chat.write(name, []);
    sessions[name] = (await chat.read(name)) ?? [];
  }
  await tell('/found', JSON.stringify({ sessions, givenUp: givenUp() }));
  await Promise.all(SESSIONS.map(writeForEver));
}

run().catch((error: unknown) => tell('/found', JSON.stringify({ error: String(error) })));
