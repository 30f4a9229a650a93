// One server process of the bench of several: a handler over a database, with an agent that answers at once. It does what its
// parent tells it, and sends back numbers.

/* global TextDecoderStream */
import { createEvent } from 'adk-session-wasm';
import { DatabaseSessionService, postgresChannel } from 'adk-session-wasm/database';
import { sessionHandler } from 'adk-session-wasm/server';

const [, , url = '', hasChannel = ''] = process.argv;
const channel = hasChannel === 'channel' ? postgresChannel(url) : undefined;
const service = new DatabaseSessionService(url, { durability: 'relaxed', channel });
const handler = sessionHandler(service, {
  authorize: () => true,
  processes: 'many',
  async *run({ message }) {
    yield { author: 'agent', content: { role: 'model', parts: message.content?.parts ?? [] } };
  },
});
const parts = [{ text: 'x'.repeat(400) }];
const message = () => createEvent({ author: 'user', content: { role: 'user', parts } });
const SESSIONS = 8;

/** The milliseconds of the system's clock that all processes share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** @param {string} path @param {object} [body] */
async function request(path, body) {
  const headers = { 'content-type': 'application/json' };
  const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await handler(new Request(`http://bench${path}`, init));
  if (!response.ok) throw new Error(await response.text());
  return response;
}

/** @type {Record<string, (request: any) => Promise<unknown>>} */
const COMMANDS = {
  /** Counts what sessions of this process take in so many milliseconds: appends, or messages with their answers. */
  async load({ milliseconds, asks }) {
    let count = 0;
    const end = now() + milliseconds;
    const one = async () => {
      const userId = crypto.randomUUID();
      await service.createSession({ appName: 'bench', userId, sessionId: 's' });
      const path = `/apps/bench/users/${userId}/sessions/s`;
      while (now() < end) {
        await request(`${path}/events`, { events: [message()], ...(asks && { run: {} }) });
        while (
          asks &&
          (await (await request(`${path}?numRecentEvents=1`)).json()).events[0].author === 'user'
        );
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: SESSIONS }, one));
    return count;
  },
  /** Appends events one by one, and returns when each was stored, by revision. */
  async append({ count, pauseMs }) {
    const session = await service.getSession({
      appName: 'bench',
      userId: 'watched',
      sessionId: 's',
    });
    const times = [];
    for (let each = 0; each < count; each += 1) {
      await service.appendEvent({ session, event: message() });
      times.push([service.revisionOf(session), now()]);
      // Not in step with the questions to the database.
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
    return times;
  },
  /** Opens a feed, and returns once it has begun. */
  async watch() {
    const { body } = await request('/apps/bench/users/watched/changes');
    const lines = body.pipeThrough(new TextDecoderStream());
    void (async () => {
      for await (const text of lines) {
        for (const [, revision] of text.matchAll(/"type":"appended".*?"revision":(\d+)/g)) {
          heard.push([Number(revision), now()]);
        }
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return undefined;
  },
  heard: () => Promise.resolve(heard),
  async open() {
    await service.getOrCreateSession({ appName: 'bench', userId: 'watched', sessionId: 's' });
  },
};

/** @type {[number, number][]} */
const heard = [];

process.on('message', async ({ command, ...rest }) => {
  process.send?.({ result: await COMMANDS[command]?.(rest) });
});
