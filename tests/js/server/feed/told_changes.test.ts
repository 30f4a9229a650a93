// What other processes tell a handler by the channel, beside its questions to the database.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';

import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { createEvent, type Notice } from '../../../../js/index.js';
import { sessionHandler } from '../../../../js/server/index.js';
import { Hub } from '../../core/watch/hub.js';
import { kinds } from '../../core/watch/notices.js';
import { newFolder } from '../../../new_folder.js';
import { ALL_RIGHTS, APP, type FeedEvent, feedEvents, KEY, requestTo } from '../fixture.js';

const folder = newFolder();
let files = 0;

const event = (stateDelta = {}) =>
  createEvent({ author: 'user', invocationId: 'i', actions: { stateDelta } });

/** Two processes over a file, of which one has a feed. Its database is asked only when the test says so. */
async function serveTwo(t: TestContext) {
  const file = join(folder, `${++files}.db`);
  const hub = new Hub({ echoes: true, tellsMissed: true });
  let questions = 0;
  const verbose = (sql: unknown): void => {
    if (String(sql).includes('"session"."update_time" >=')) questions += 1;
  };
  const channel = hub.open;
  const service = new DatabaseSessionService(`sqlite:${file}`, {
    channel,
    driverOptions: { verbose },
  });
  const other = new DatabaseSessionService(`sqlite:${file}`, { channel });
  await Promise.all([service.ping(), other.ping()]);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const handler = sessionHandler(service, { authorize: () => ALL_RIGHTS });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  const received: Notice[] = [];
  const response = await handler(requestTo(`/apps/${APP}/changes?userId=${KEY.userId}`));
  const reading = (async () => {
    for await (const { data } of feedEvents(response) as AsyncIterable<FeedEvent>) {
      received.push(data as Notice);
    }
  })();
  await settle();
  /** Returns what the feed has got without a question to the database. */
  const told = async (): Promise<string[]> => {
    const before = questions;
    await settle();
    // The sender collects what it tells for so long.
    t.mock.timers.tick(60);
    await settle();
    assert.equal(questions, before);
    return kinds(received.splice(0));
  };
  /** Returns what the feed gets by so many questions. */
  const found = async (count = 3): Promise<string[]> => {
    const before = questions;
    for (let rounds = 0; rounds < 240 && questions < before + count; rounds += 1) {
      t.mock.timers.tick(500);
      await settle();
    }
    assert.ok(questions >= before + count);
    return kinds(received.splice(0));
  };
  const close = async (): Promise<void> => {
    void handler.close();
    t.mock.timers.reset();
    await Promise.all([service.close(), other.close(), reading]);
  };
  return { file, hub, service, other, told, found, close };
}

describe('The feed of a process that another process tells its changes', () => {
  it('tells each change at once, and questions to the database tell none again', async (t) => {
    const { other, told, found, close } = await serveTwo(t);
    const session = await other.createSession(KEY);
    assert.deepEqual(await told(), ['created ada s1']);
    await other.appendEvent({ session, event: event({ 'user:a': 1, 'app:b': 2 }) });
    assert.deepEqual(await told(), ['appended ada s1 user app']);
    await other.updateState({ appName: APP, userId: 'ada', stateDelta: { 'user:a': 2 } });
    assert.deepEqual(await told(), ['stateChanged ada user']);
    await other.updateState({ appName: APP, stateDelta: { 'app:b': 3 } });
    assert.deepEqual(await told(), ['stateChanged  app']);
    await other.updateSession(KEY, { title: 'Tea', labels: { topic: 'tea' } });
    assert.deepEqual(await told(), ['updated ada s1']);
    await other.deleteUserState({ appName: APP, userId: 'ada' });
    assert.deepEqual(await told(), ['stateChanged ada user']);
    await other.deleteSession(KEY);
    assert.deepEqual(await told(), ['deleted ada s1']);
    assert.deepEqual(await found(), []);
    await close();
  });

  it('hears of a deletion of a program that ends at once', async (t) => {
    const { file, hub, other, told, close } = await serveTwo(t);
    await other.createSession(KEY);
    assert.deepEqual(await told(), ['created ada s1']);
    const program = new DatabaseSessionService(`sqlite:${file}`, { channel: hub.open });
    await program.deleteSession(KEY);
    await program.close();
    assert.deepEqual(await told(), ['deleted ada s1']);
    await close();
  });

  it('has from the database what the channel has lost, and reads again for the rest', async (t) => {
    const { hub, other, told, found, close } = await serveTwo(t);
    const session = await other.createSession(KEY);
    assert.deepEqual(await told(), ['created ada s1']);
    hub.isCut = true;
    await other.appendEvent({ session, event: event({ 'user:a': 1 }) });
    assert.deepEqual(await told(), []);
    assert.deepEqual((await found()).sort(), ['appended ada s1', 'stateChanged ada user']);
    hub.isCut = false;
    await other.updateSession(KEY, { title: 'Tea' });
    assert.deepEqual(await told(), ['updated ada s1', 'resync']);
    assert.deepEqual(await found(), []);
    await close();
  });

  it('tells nothing again that a question has found before the text came', async (t) => {
    const { hub, other, told, found, close } = await serveTwo(t);
    const session = await other.createSession(KEY);
    assert.deepEqual(await told(), ['created ada s1']);
    hub.isCut = true;
    await other.appendEvent({ session, event: event({ 'user:a': 1 }) });
    assert.deepEqual((await found()).sort(), ['appended ada s1', 'stateChanged ada user']);
    hub.isCut = false;
    hub.deliver(hub.names[0], hub.texts.at(-1));
    assert.deepEqual(await told(), []);
    await close();
  });

  it('tells own changes to another process, and not to itself', async (t) => {
    const { service, told, found, close } = await serveTwo(t);
    await service.createSession({ ...KEY, state: { 'user:a': 1 } });
    assert.deepEqual(await told(), ['created ada s1 user']);
    assert.deepEqual(await found(), []);
    await close();
  });
});
