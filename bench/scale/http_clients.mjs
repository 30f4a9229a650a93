// Run as a program of its own: `http_clients.mjs URL USERS APPENDS`. Each user appends to a session of its own, one append
// after the other; every 50 ms a new connection asks `/health`. Prints JSON.

import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEvent } from 'adk-session-wasm';
import { RemoteSessionService } from 'adk-session-wasm/remote';
import { makeShortEvent } from '../events.mjs';

const [url = '', users, count] = process.argv.slice(2);
let appends = 0;
let hasEnded = false;

/** @param {number} user */
async function append(user) {
  const service = new RemoteSessionService({ url });
  const session = await service.createSession({ appName: 'bench', userId: `user ${user}` });
  for (let at = 0; at < Number(count); at += 1) {
    await service.appendEvent({ session, event: createEvent(makeShortEvent(at, 600)) });
    appends += 1;
  }
  await service.close();
}

/** @returns {Promise<number>} milliseconds until a new connection has an answer */
function connect() {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(`${url}/health`, { agent: false }, (response) => {
      response.resume().once('end', () => resolve(performance.now() - start));
    });
    request.once('error', reject);
  });
}

/** @returns {Promise<number[]>} */
async function connections() {
  const waits = [];
  while (!hasEnded) {
    waits.push(connect());
    await sleep(50);
  }
  return Promise.all(waits);
}

const waiting = connections();
await Promise.all(Array.from({ length: Number(users) }, (_, user) => append(user)));
hasEnded = true;
console.log(JSON.stringify({ appends, longestWait: Math.max(...(await waiting)) }));
