// A page over the real `adk api_server` that loses its connection, or its server, during a run.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';

import type { Event } from '../../../js/index.js';
import { sqliteServiceFiles } from '../database/shared_databases.js';
import { scriptOf } from '../runs/scripted_agents.js';
import { type ApiServer, startApiServer } from './api_server.js';
import { call, calls, linesOf, Page, partial, requireOnce, says, userContent } from './pages.js';

describe('A page that loses adk api_server', { timeout: 180_000 }, () => {
  let server: ApiServer;
  let database: string;
  const pages: Page[] = [];
  const open = (url = server.url): Page => {
    const page = new Page(url);
    pages.push(page);
    return page;
  };
  before(async () => {
    database = (await sqliteServiceFiles()()).python;
    server = await startApiServer(database);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  after(() => server.end());

  const stored = async (page: Page): Promise<readonly Event[]> => {
    const { body } = await server.ask(`/apps/scripted/users/ada/sessions/${page.key.sessionId}`);
    return (body as { events: Event[] }).events;
  };

  it('after any event shows what stands there, and has sent the message once', async () => {
    for (let cutAfter = 0; cutAfter <= 5; cutAfter += 1) {
      const page = open();
      page.cutAfter = cutAfter;
      await page.ask([
        [partial('Le'), calls(call('buy', 1))],
        [partial('do'), says('done')],
      ]);
      await page.settled();
      // The server may store the end of the run a little later.
      await page.until(() => page.snapshot.run?.status !== 'running');
      const events = await stored(page);
      await page.chat.reload();
      const { run, unsent } = page.snapshot;
      assert.deepEqual(
        page.snapshot.events.map(({ id }) => id),
        (await stored(page)).map(({ id }) => id),
      );
      assert.equal(events.filter(({ author }) => author === 'user').length, 1);
      assert.deepEqual(Object.keys(unsent), []);
      const isDone = linesOf(page.snapshot).at(-1) === 'done';
      assert.ok(
        isDone ? run === undefined : ['cancelled', 'unanswered'].includes(run!.status),
        `${cutAfter}: ${run?.status} ${linesOf(page.snapshot).join(' | ')}`,
      );
      assert.equal(page.runs, 1);
      requireOnce(page.seen);
      const next = page.ask([[says('next')]]);
      page.cutAfter = Infinity;
      await next;
      await page.settled();
      assert.equal(linesOf(page.snapshot).at(-1), 'next');
    }
  });

  it('because the server was killed is unanswered once the server is back', async () => {
    const own = await startApiServer(database);
    const page = open(own.url);
    await page.ask([[partial('Green'), { wait: 30 }, says('never')]]);
    await page.until(({ drafts }) => drafts.length > 0);
    const { port } = new URL(own.url);
    await own.end();
    await page.until(({ error }) => error !== undefined || page.requests.length > 8);
    assert.equal(page.snapshot.run?.status, 'running');
    const back = await startApiServer(database, undefined, undefined, Number(port));
    try {
      const { run } = await page.settled();
      assert.equal(run?.status, 'unanswered');
      assert.deepEqual(linesOf(page.snapshot), ['…']);
      await page.ask([[says('next')]]);
      await page.settled();
      assert.deepEqual(linesOf(page.snapshot), ['…', '…', 'next']);
      assert.equal(page.runs, 2);
    } finally {
      await back.end();
    }
  });

  it('before it knows of its message finds it when the message is sent again', async () => {
    const page = open();
    await page.chat.load();
    page.cutAfter = 0;
    // The page loses the connection for longer: it cannot read the session either.
    page.onRun = () => (page.isOffline = true);
    await assert.rejects(page.ask([[says('one')]]), { code: 'connection_lost' });
    const [[id] = []] = Object.entries(page.snapshot.unsent);
    assert.ok(id);
    assert.equal((await stored(page)).filter(({ author }) => author === 'user').length, 1);
    page.isOffline = false;
    await page.chat.retry(id);
    const { unsent, events } = await page.settled();
    assert.deepEqual(Object.keys(unsent), []);
    assert.equal(events.filter(({ author }) => author === 'user').length, 1);
    assert.equal(page.runs, 1);
  });

  it('before it knows of its message recognises it in a later read', async () => {
    const page = open();
    await page.chat.load();
    page.cutAfter = 0;
    page.onRun = () => (page.isOffline = true);
    await assert.rejects(page.ask([[says('one')]]), { code: 'connection_lost' });
    page.isOffline = false;
    await page.chat.reload();
    assert.deepEqual(Object.keys(page.snapshot.unsent), []);
    assert.equal(page.snapshot.events.filter(({ author }) => author === 'user').length, 1);
    requireOnce(page.seen);
  });

  it('waits for a message that the server stores a little after the answer was lost', async () => {
    const page = open();
    await page.chat.load();
    page.arrivesAfter = 300;
    const message = await page.ask([[says('one')]]);
    const { events, unsent } = await page.settled();
    assert.deepEqual(Object.keys(unsent), []);
    assert.equal(events[0]!.id, message.id);
    assert.equal((await stored(page))[0]!.id, message.id);
    assert.equal(page.runs, 1);
    requireOnce(page.seen);
  });

  it('sends no message again that the server stores a little after the retry', async () => {
    const page = open();
    await page.chat.load();
    // The page cannot read the session until it retries.
    page.onRun = () => (page.isOffline = true);
    page.arrivesAfter = 500;
    await assert.rejects(page.ask([[says('one')]]), { code: 'connection_lost' });
    page.isOffline = false;
    await page.chat.retry(Object.keys(page.snapshot.unsent)[0]!);
    await page.settled();
    assert.deepEqual(Object.keys(page.snapshot.unsent), []);
    assert.equal((await stored(page)).filter(({ author }) => author === 'user').length, 1);
    assert.equal(page.runs, 1);
    requireOnce(page.seen);
  });

  it('before it sends anything keeps the message, which can be sent later', async () => {
    const page = open();
    await page.chat.ask(userContent(scriptOf([[says('one')]])));
    await page.settled();
    page.isOffline = true;
    await assert.rejects(page.ask([[says('two')]]), { code: 'connection_lost' });
    page.isOffline = false;
    await page.chat.retry(Object.keys(page.snapshot.unsent)[0]!);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'one', '…', 'two']);
  });
});
