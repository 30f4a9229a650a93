// Handlers of one process over one storage: the runs belong to the storage, and not to a handler.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';

import {
  InMemorySessionService,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { sessionHandler, type SessionHandlerOptions } from '../../../../js/server/index.js';
import { processRunsOf } from '../../../../js/server/runs/process_runs.js';
import { newFolder } from '../../../new_folder.js';
import { MapStorage } from '../../service/map_storage.js';
import { gate, textsOf } from '../../ui/live/runs/agents.js';
import {
  answerOf,
  type Ask,
  type FeedEvent,
  feedEvents,
  KEY,
  requestTo,
  USER,
} from '../fixture.js';
import { asked, echoing, EVENTS, RUN } from './fixture.js';

const folder = newFolder();

type Pair = readonly [SessionService, SessionService];

/** By what they share: two services of one process, which may be the same. */
const PAIRS: Readonly<Record<string, () => Pair | Promise<Pair>>> = {
  'one service': () => {
    const service = new InMemorySessionService();
    return [service, service];
  },
  'services of one storage': () => {
    const storage = new MapStorage();
    return Promise.all([openSessionService({ storage }), openSessionService({ storage })]);
  },
  'services of one address': () => {
    const url = `sqlite:${join(folder, 'address.db')}`;
    return [new DatabaseSessionService(url), new DatabaseSessionService(url)];
  },
  'services of one connection': () => {
    const sqlite = new Sqlite(join(folder, 'connection.db'));
    return [new DatabaseSessionService({ sqlite }), new DatabaseSessionService({ sqlite })];
  },
};

const authorize = () => true;

function handlerOf(service: SessionService, options: Partial<SessionHandlerOptions>) {
  const handler = sessionHandler(service, { authorize, ...options });
  const ask: Ask = async (path, given) => answerOf(await handler(requestTo(path, given)));
  return { handler, ask };
}

/** Two handlers, of which the first answers a message until the gate opens. */
async function serveTwo(pair: Pair) {
  const go = gate();
  const { run, seen } = echoing(go.opened);
  const [one, other] = pair.map((service) => handlerOf(service, { run })) as [
    ReturnType<typeof handlerOf>,
    ReturnType<typeof handlerOf>,
  ];
  await pair[0].createSession(KEY);
  const begin = async (): Promise<void> => {
    const { status } = await one.ask(EVENTS, asked('m1', { run: { streaming: true } }));
    assert.equal(status, 200);
  };
  const events = async () => (await pair[1].getSession(KEY))!.events;
  const close = () => Promise.all(pair.map((service) => service.close()));
  return { one, other, go, seen, begin, events, close };
}

interface RunsJson {
  readonly type: string;
  readonly runs: readonly { readonly messageId: string }[];
}

/** Reads a feed until it tells the runs under way. */
async function firstRuns(feed: AsyncGenerator<FeedEvent>): Promise<RunsJson> {
  for (;;) {
    const next = await feed.next();
    assert.ok(next.done !== true);
    const data = next.value.data as RunsJson;
    if (data.type === 'runs') return data;
  }
}

for (const [name, pairOf] of Object.entries(PAIRS)) {
  describe(`Two handlers over ${name}`, () => {
    it('have one run in a session, which both report and cancel', async () => {
      const { other, begin, seen, events, close } = await serveTwo(await pairOf());
      await begin();
      const refused = await other.ask(EVENTS, asked('m2'));
      assert.deepEqual(
        [refused.status, (refused.body as { code: string }).code],
        [409, 'agent_running'],
      );
      const feed = feedEvents(await other.handler(requestTo(`${USER}/changes`)));
      const { runs } = await firstRuns(feed);
      assert.deepEqual(
        runs.map(({ messageId }) => messageId),
        ['m1'],
      );
      await feed.return(undefined);
      const cancelled = await other.ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
      assert.deepEqual(cancelled.body, { cancelled: true });
      assert.equal((await events()).at(-1)?.errorCode, 'INVOCATION_ABORTED');
      assert.deepEqual(seen, ['m1']);
      await close();
    });
  });
}

describe('A handler that closes', () => {
  it('stops its own runs, and not those of another handler', async () => {
    const service = new InMemorySessionService();
    const { one, other, go, begin, events } = await serveTwo([service, service]);
    await begin();
    await other.handler.close({ graceMs: 0 });
    go.open();
    await one.handler.close();
    assert.deepEqual(textsOf(await events()), ['m1', 'm1!']);
  });
});

describe('Services of one address', () => {
  const runsOf = (service: SessionService) => processRunsOf(service).start;

  it('have the runs of the process until the last of them is closed', async () => {
    const url = `sqlite:${join(folder, 'closed.db')}`;
    const open = () => new DatabaseSessionService(url);
    const [one, other] = [open(), open()];
    const start = runsOf(one);
    assert.equal(runsOf(other), start);
    await one.close();
    const third = open();
    assert.equal(runsOf(third), start);
    await Promise.all([other, third].map((service) => service.close()));
    const later = open();
    assert.notEqual(runsOf(later), start);
    await later.close();
  });
});

describe('Handlers over databases in memory, and over other tables', () => {
  it('have runs of their own', async () => {
    const inMemory = () => new DatabaseSessionService('sqlite::memory:');
    const sqlite = new Sqlite(':memory:');
    const prefixed = (tablePrefix: string) => new DatabaseSessionService({ sqlite, tablePrefix });
    for (const pair of [
      [inMemory(), inMemory()],
      [prefixed('a_'), prefixed('b_')],
    ] as const) {
      const { other, go, begin, close } = await serveTwo(pair);
      await pair[1].createSession(KEY);
      await begin();
      assert.equal((await other.ask(EVENTS, asked('m2'))).status, 200);
      go.open();
      await other.handler.close();
      await close();
    }
  });
});

describe('A run that its host has ended without a word', () => {
  it('holds up no message once its time is over', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const service = new InMemorySessionService();
    const { one, go, begin, seen } = await serveTwo([service, service]);
    await begin();
    t.mock.timers.tick(600_000);
    assert.equal((await one.ask(EVENTS, asked('m2'))).status, 409);
    t.mock.timers.tick(31_000);
    assert.equal((await one.ask(EVENTS, asked('m2'))).status, 200);
    assert.deepEqual(seen, ['m1', 'm2']);
    go.open();
    await one.handler.close();
  });
});
