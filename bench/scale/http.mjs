// Appends by 8 and by 128 users at once, over HTTP and directly. The clients are another program; `cpuUsage` is of the server
// alone.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createEvent } from 'adk-session-wasm';
import { nodeListener, sessionHandler } from 'adk-session-wasm/server';
import { limited, shown } from '../measure.mjs';
import { makeShortEvent } from '../events.mjs';
import { turnsOf } from './loop_delay.mjs';

const CLIENTS = fileURLToPath(new URL('http_clients.mjs', import.meta.url));
const DIRECT = 2000;
const [FEW, MANY] = [8, 128];
/** Of each user. */
const APPENDS = { [FEW]: 80, [MANY]: 10 };

/** @typedef {import('adk-session-wasm').SessionService} Service */
/** @typedef {{ appends: number, longestWait: number, cpu: number, longest: number, p99: number }} Served */

/** Milliseconds of processor time that work takes. @param {() => Promise<unknown>} work */
async function processorTime(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** @param {string} url @param {number} users */
async function runClients(url, users) {
  const args = [CLIENTS, url, String(users), String(APPENDS[users])];
  const clients = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  clients.stdout.on('data', (/** @type {Buffer} */ part) => (text += part.toString()));
  const [code] = await once(clients, 'close');
  if (code !== 0) throw new Error('the clients failed');
  return JSON.parse(text);
}

/** @param {string} url @param {number} users @returns {Promise<Served>} */
async function serve(url, users) {
  let told = { appends: 0, longestWait: 0 };
  let turns = { longest: 0, p99: 0 };
  const cpu = await processorTime(async () => {
    turns = await turnsOf(async () => (told = await runClients(url, users)));
  });
  return { ...told, ...turns, cpu: cpu / told.appends };
}

/** @param {Service} service @returns {Promise<number>} */
async function direct(service) {
  const session = await service.createSession({ appName: 'bench', userId: 'direct' });
  const cpu = await processorTime(async () => {
    for (let at = 0; at < DIRECT; at += 1) {
      await service.appendEvent({ session, event: createEvent(makeShortEvent(at, 600)) });
    }
  });
  return cpu / DIRECT;
}

/** The turns of the loop of as many appends as over HTTP. @param {Service} service @param {number} users */
async function turnsOfDirect(service, users) {
  const sessions = await Promise.all(
    Array.from({ length: users }, (_, user) =>
      service.createSession({ appName: 'bench', userId: `direct ${user}` }),
    ),
  );
  const append = async (/** @type {import('adk-session-wasm').Session} */ session) => {
    for (let at = 0; at < APPENDS[FEW]; at += 1) {
      await service.appendEvent({ session, event: createEvent(makeShortEvent(at, 600)) });
    }
  };
  return turnsOf(() => Promise.all(sessions.map(append)));
}

/** @param {string} storage @param {Service} service @returns {Promise<import('../measure.mjs').Result[]>} */
export async function appendsOverHttp(storage, service) {
  const server = createServer(nodeListener(sessionHandler(service, { authorize: () => true })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  try {
    await serve(url, FEW); // until V8 has compiled it
    const few = await serve(url, FEW);
    const many = await serve(url, MANY);
    const [fewDirect, manyDirect] = [
      await turnsOfDirect(service, FEW),
      await turnsOfDirect(service, MANY),
    ];
    const title = `${storage}: appends over HTTP, ${MANY} at once`;
    const unit = 'ms';
    return [
      limited({
        case: `${storage}: appends without HTTP, ${MANY} at once, event loop, p99`,
        ours: manyDirect.p99,
        peer: fewDirect.p99,
        unit,
        most: 20,
      }),
      shown({
        case: `${title}, processor time`,
        ours: many.cpu,
        peer: await direct(service),
        unit,
      }),
      limited({
        case: `${title}, event loop, p99`,
        ours: many.p99,
        peer: few.p99,
        unit,
        most: 100,
      }),
      shown({ case: `${title}, longest turn`, ours: many.longest, peer: few.longest, unit }),
      shown({
        case: `${title}, longest wait of a new connection`,
        ours: many.longestWait,
        peer: few.longestWait,
        unit,
      }),
    ];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
