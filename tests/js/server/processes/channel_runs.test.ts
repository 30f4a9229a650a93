// Runs at one process that another one ends, and a process that shuts down, over the channel of PostgreSQL.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { postgresChannel } from '../../../../js/service/database/index.js';
import type { Event } from '../../../../js/index.js';
import {
  emptied,
  postgresRows,
  type Server,
  startPostgres,
} from '../../stores/database/servers.js';
import { textsOf } from '../../ui/live/runs/agents.js';
import {
  askAgent,
  createSession,
  eventsOf,
  messageOf,
  rewind,
  until,
  untilText,
} from './servers/client.js';
import { type ServerProcess, startServer } from './servers/server_process.js';

let postgres: Server;
let url: string;
let one: ServerProcess;
let other: ServerProcess;
const servers: ServerProcess[] = [];
/** What goes over the channel. */
const texts: string[] = [];
let close = (): unknown => undefined;

before(async () => {
  postgres = await startPostgres();
  url = await emptied('postgresql', postgres);
  const program = import.meta.resolve('./servers/channel_server.js');
  // The first one makes the tables.
  for (let count = 0; count < 2; count += 1) servers.push(await startServer(program, url));
  [one, other] = servers as [ServerProcess, ServerProcess];
  await createSession(one.origin, 'first');
  const query = `select value from adk_internal_metadata where key = 'adk_session_wasm_channel'`;
  const [row] = await postgresRows<{ value: string }>(url, query);
  const channel = postgresChannel(url)(`adk_session_wasm_${row!.value}`);
  const isHearing = new Promise<void>((resolve) => (channel.onmissed = resolve));
  channel.onmessage = ({ data }) => texts.push(data as string);
  close = () => channel.close();
  await isHearing;
});
after(async () => {
  close();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  await postgres.remove();
});

const nameOf = ({ author, id, errorCode, content }: Event): string | undefined =>
  author === 'user' ? id : (errorCode ?? textsOf([{ content: content! }])[0]);

const namesOf = async (sessionId: string) => (await eventsOf(other.origin, sessionId)).map(nameOf);

const isTold = (text: string) =>
  until(
    () => texts.some((told) => told.includes(text)),
    () => texts,
  );

/** Begins a run at the first process that does not end by itself, and waits until the others know it. */
async function beginRun(sessionId: string): Promise<string> {
  await createSession(one.origin, sessionId);
  const message = `slow ${sessionId}`;
  assert.equal((await askAgent(one.origin, sessionId, message)).status, 200);
  await isTold(`"messageId":"${message}"`);
  return message;
}

it('A rewind at another process stores the texts of the run before its marker', async () => {
  const message = await beginRun('rewound');
  const body = {
    place: { turn: message },
    marker: { id: 'w1', invocationId: 'w1' },
    message: messageOf('m2', 'Hi'),
    run: {},
  };
  assert.equal((await rewind(other.origin, 'rewound', body)).status, 200);
  await untilText(other.origin, 'rewound', 'Hi!');
  const stored = [message, 'Green', 'INVOCATION_ABORTED', 'w1', 'm2', 'Hi!'];
  assert.deepEqual(await namesOf('rewound'), stored);
});

it('A process that shuts down ends its runs, and tells its close before it ends', async () => {
  const message = await beginRun('closed');
  one.child.kill('SIGTERM');
  assert.deepEqual(await one.ended, { code: 0, signal: null });
  await isTold('"type":"closed"');
  assert.equal((await askAgent(other.origin, 'closed', 'Hi')).status, 200);
  await untilText(other.origin, 'closed', 'Hi!');
  assert.deepEqual(await namesOf('closed'), [message, 'RUN_STOPPED', 'Hi', 'Hi!']);
});
