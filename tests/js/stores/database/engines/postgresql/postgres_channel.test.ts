import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

import type { Diagnostic, OpenChannel, ProcessChannel } from '../../../../../../js/index.js';
import {
  DatabaseSessionService,
  postgresChannel,
} from '../../../../../../js/service/database/index.js';
import { SessionError } from '../../../../../../js/values/errors/errors.js';
import { kinds, listen } from '../../../../core/watch/notices.js';
import { failsWith } from '../../../../fails_with.js';
import { APP, KEY } from '../../../../service/fixture.js';
import {
  emptied,
  postgresRows,
  type Server,
  startPgBouncer,
  startPostgres,
} from '../../servers.js';

let server: Server;
let url: string;
before(async () => {
  server = await startPostgres();
  url = await emptied('postgresql', server);
});
after(() => server.remove());

const realTimeout = setTimeout;
const turn = (): Promise<void> => new Promise((resolve) => realTimeout(resolve, 5));

async function until(isTrue: () => boolean, each = (): void => undefined): Promise<void> {
  for (let turns = 0; turns < 4000 && !isTrue(); turns += 1) {
    each();
    await turn();
  }
  assert.ok(isTrue());
}

let names = 0;

/** Opens a channel, and keeps what it says. */
function opened(open: OpenChannel, name = `adk_session_wasm_${++names}`) {
  const channel = open(name) as Required<ProcessChannel>;
  const texts: unknown[] = [];
  const errors: SessionError[] = [];
  const heard = { channel, name, texts, errors, missed: 0 };
  channel.onmessage = ({ data }) => texts.push(data);
  channel.onmissed = () => void (heard.missed += 1);
  channel.onfailure = (error) => errors.push(error as SessionError);
  return heard;
}

/** Opens two channels of one name, as two processes do, once both hear. */
async function openedTwo(open: OpenChannel = postgresChannel(url)) {
  const one = opened(open);
  const other = opened(open, one.name);
  await until(() => one.missed > 0 && other.missed > 0);
  const close = (): void => [one, other].forEach(({ channel }) => channel.close());
  return { one, other, close };
}

/** The connections that listen, or did it last. */
const listeners = () =>
  postgresRows<{ pid: number }>(
    url,
    `select pid from pg_stat_activity where datname = 'adk' and (query like 'listen %' or query like '%pg_notify%')
     and pid <> pg_backend_pid()`,
  );

describe('The channel of PostgreSQL', () => {
  it('tells the changes of one service to the watchers of another', async () => {
    const channel = postgresChannel(url);
    const [one, other] = [0, 1].map(() => new DatabaseSessionService(url, { channel }));
    const notices = listen(other!);
    await one!.createSession(KEY);
    await until(() => notices.length > 0);
    await one!.updateSession(KEY, { title: 'Tea' });
    const session = `${KEY.userId} ${KEY.sessionId}`;
    await until(() => kinds(notices).includes(`updated ${session}`));
    await one!.deleteSession(KEY);
    await until(() => kinds(notices).includes(`deleted ${session}`));
    await Promise.all([one!.close(), other!.close()]);
    await until(() => true);
    const left = async (): Promise<boolean> => (await listeners()).length === 0;
    for (let turns = 0; turns < 400 && !(await left()); turns += 1) await turn();
    assert.ok(await left());
  });

  it('tells nothing to services over other tables of the same database', async () => {
    const channel = postgresChannel(url);
    const open = (tablePrefix: string) => new DatabaseSessionService(url, { channel, tablePrefix });
    const [one, other, beside] = ['one_', 'two_', 'two_'].map(open);
    const notices = listen(other!);
    await one!.createSession(KEY);
    await until(() => notices.length > 0);
    assert.deepEqual(kinds(notices.splice(0)), ['resync']);
    await one!.updateSession(KEY, { title: 'Tea' });
    await one!.deleteSession(KEY);
    const sessionId = 'beside';
    await beside!.createSession({ ...KEY, sessionId });
    await until(() => notices.length > 0);
    assert.deepEqual(kinds(notices), [`created ${KEY.userId} ${sessionId}`]);
    await Promise.all([one, other, beside].map((service) => service!.close()));
  });

  it('carries texts of any length in their order, and returns them to their sender', async () => {
    const { one, other, close } = await openedTwo();
    const texts = ['🍵', 'x'.repeat(7899), 'é'.repeat(9000), '茶'.repeat(100_000), '', "'\\\n"];
    for (const text of texts) one.channel.postMessage(text);
    const filled = texts.filter((text) => text !== '');
    await until(() => other.texts.length >= filled.length && one.texts.length >= filled.length);
    assert.deepEqual([one.texts, other.texts], [filled, filled]);
    close();
  });

  it('sends what was posted before it was connected and before it was closed', async () => {
    const { one, close } = await openedTwo();
    const late = opened(postgresChannel(url), one.name);
    late.channel.postMessage('early');
    late.channel.close();
    await until(() => one.texts.length > 0);
    assert.deepEqual([one.texts, late.errors], [['early'], []]);
    close();
  });

  it('takes the options of a pool, and none of its clients', async () => {
    const pool = new pg.Pool({ connectionString: url, password: 's3cret', max: 1 });
    const { one, other, close } = await openedTwo(postgresChannel(pool));
    one.channel.postMessage('tea');
    await until(() => other.texts.length > 0);
    assert.equal(pool.totalCount, 0);
    close();
    await pool.end();
  });

  it('takes the options of a client', async () => {
    const { port } = server;
    const options = { host: '127.0.0.1', port, user: 'adk', database: 'adk' };
    const { one, other, close } = await openedTwo(postgresChannel(options));
    one.channel.postMessage('tea');
    await until(() => other.texts.length > 0);
    close();
  });

  it('connects again when its connection is lost, and says that texts may have been lost', async () => {
    const { one, other, close } = await openedTwo();
    for (const { pid } of await listeners()) {
      await postgresRows(url, `select pg_terminate_backend(${pid})`);
    }
    await until(() => one.missed > 1 && other.missed > 1);
    one.channel.postMessage('tea');
    await until(() => other.texts.length > 0);
    assert.deepEqual([one.errors.length, other.errors.length], [1, 1]);
    assert.ok(one.errors[0]!.code === 'connection_lost', one.errors[0]!.message);
    close();
  });

  it('hears itself every 15 seconds, and connects again if it does not', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { one, close } = await openedTwo();
    const count = async (): Promise<number> => (await listeners()).length;
    assert.equal(await count(), 2);
    for (let times = 0; times < 3; times += 1) {
      t.mock.timers.tick(15_000);
      for (let turns = 0; turns < 20; turns += 1) await turn();
    }
    assert.deepEqual([one.missed, one.errors], [1, []]);
    await server.suspend();
    t.mock.timers.tick(15_000);
    await turn();
    t.mock.timers.tick(15_000);
    await until(() => one.errors.length > 0);
    server.resume();
    await until(
      () => one.missed > 1,
      () => t.mock.timers.tick(100),
    );
    assert.deepEqual(
      one.errors.map(({ code }) => code),
      ['connection_lost'],
    );
    close();
  });

  for (const connections of [1, 2]) {
    it(`reports once that a pooler in transaction mode delivers nothing: with ${connections} connections`, async (t: TestContext) => {
      const pooler = await startPgBouncer(server.port, connections);
      t.after(() => pooler.remove());
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const told: Diagnostic[] = [];
      const onDiagnostic = (diagnostic: Diagnostic): void => {
        if (diagnostic.kind === 'channel') told.push(diagnostic);
      };
      const behind = postgresChannel(`postgresql://adk@127.0.0.1:${pooler.port}/adk`);
      const service = new DatabaseSessionService(url, { channel: behind, onDiagnostic });
      const notices = listen(service, APP);
      let passedMs = 0;
      const pass = (): void => {
        t.mock.timers.tick(500);
        passedMs += 500;
      };
      // The first answer may take long on a busy machine.
      await until(
        () => told.length > 0,
        () => {
          if (passedMs < 60_000) pass();
        },
      );
      await until(() => passedMs > 120_000, pass);
      assert.deepEqual(
        told.map((each) => each.kind === 'channel' && [each.storage, each.code]),
        [['postgresql', 'unsupported']],
      );
      assert.match((told[0] as { message: string }).message, /pooler in transaction mode/);
      assert.deepEqual(notices, []);
      t.mock.timers.reset();
      await service.close();
    });
  }

  it('waits longer after each connect that fails, and reports the first', async (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const connects: number[] = [];
    let passedMs = 0;
    const address = 'postgresql://adk:s3cret@127.0.0.1:1/adk';
    const { channel, errors } = opened(postgresChannel(address));
    interface Client {
      readonly port: number;
      connect(): Promise<void>;
    }
    const connect = t.mock.method(pg.Client.prototype as unknown as Client, 'connect');
    connect.mock.mockImplementation(function (this: Client) {
      // A channel of an earlier test may still connect.
      if (this.port === 1) connects.push(passedMs);
      return Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    });
    await until(
      () => connects.length > 8,
      () => {
        t.mock.timers.tick(500);
        passedMs += 500;
      },
    );
    const pauses = connects.map((time, index) => time - (connects[index - 1] ?? 0)).slice(1);
    assert.ok(pauses[0]! <= 2000 && pauses.at(-1)! >= 14_500, String(pauses));
    assert.ok(pauses.every((pause) => pause <= 31_000));
    assert.equal(errors.length, 1);
    failsWith('connection_lost', /ECONNREFUSED/)(errors[0]);
    channel.close();
  });

  it('keeps no program running, but until a text is sent', async () => {
    const { one, close } = await openedTwo();
    const program = `
      import { postgresChannel } from './js/service/database/index.js';
      const channel = postgresChannel(${JSON.stringify(url)})(${JSON.stringify(one.name)});
      channel.onmissed = () => console.log('connected');
      channel.postMessage('from a program');`;
    const cwd = fileURLToPath(new URL('../../../../../..', import.meta.url));
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      { cwd, timeout: 60_000 },
    );
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
    await until(() => one.texts.length > 0);
    assert.deepEqual(one.texts, ['from a program']);
    close();
  });

  it('needs an address, options or a pool', () => {
    const client = { connect: () => undefined };
    for (const from of [7, null, undefined, [], client, 'mysql://localhost/adk', 'tea']) {
      assert.throws(() => postgresChannel(from as string), failsWith('invalid_argument'));
    }
    const address = 'postgresql://adk:s3cret@/adk';
    assert.throws(() => postgresChannel(address), failsWith('invalid_argument'));
  });
});
