// A page with a cache over the real `adk api_server`; and the same page over our handler.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';

import { isSessionError } from '../../../js/index.js';
import { MemoryLocalStore } from '../../../js/service/cache/index.js';
import { sqliteServiceFiles } from '../database/shared_databases.js';
import { type Replies, scriptOf, startScriptedAgents } from '../runs/scripted_agents.js';
import { type ApiServer, startApiServer } from './api_server.js';
import {
  call,
  calls,
  lineOf,
  linesOf,
  newKey,
  Page,
  partial,
  requireOnce,
  says,
  userContent,
} from './pages.js';

describe('A cached page over adk api_server', { timeout: 180_000 }, () => {
  let server: ApiServer;
  const pages: Page[] = [];
  const open = (...[key, options]: Parameters<typeof openPage>): Page => {
    const page = openPage(key, options);
    pages.push(page);
    return page;
  };
  const openPage = (key = newKey(), options: ConstructorParameters<typeof Page>[2] = {}) =>
    new Page(server.url, key, { local: new MemoryLocalStore(), ...options });
  before(async () => {
    server = await startApiServer((await sqliteServiceFiles()()).python);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  after(() => server.end());

  it('asks, and has the answer in its copy', async () => {
    const local = new MemoryLocalStore();
    const page = open(undefined, { local });
    await page.ask([[partial('Green'), { wait: 0.2 }, says('Green tea')]]);
    const { events } = await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'Green tea']);
    assert.deepEqual(events, (await page.service.getSession(page.key))?.events);
    assert.deepEqual(await page.cache!.outbox.list(), []);
    requireOnce(page.seen);
    assert.ok(page.seen.some(({ drafts }) => drafts.length > 0));
    await page.close();
    pages.pop();
    const offline = open(page.key, { local, isOffline: true });
    await offline.until(({ status }) => status === 'ready');
    assert.deepEqual(linesOf(offline.snapshot), ['…', 'Green tea']);
  });

  it('needs the connection to ask: without one nothing is stored', async () => {
    const local = new MemoryLocalStore();
    const page = open(undefined, { local });
    await page.ask([[says('one')]]);
    await page.settled();
    page.isOffline = true;
    await assert.rejects(page.ask([[says('two')]]), { code: 'connection_lost' });
    // Also in a session that nobody has created yet.
    const another = { ...page.key, sessionId: `${page.key.sessionId}-new` };
    const fresh = open(another, { local });
    fresh.isOffline = true;
    await fresh.cache!.listSessions({ appName: page.key.appName, userId: 'ada' });
    assert.deepEqual(await page.cache!.outbox.list(), []);
    assert.equal(linesOf(page.snapshot).join(), '…,one,…');
    await page.close();
    await fresh.close();
    pages.length = 0;
    // A page that has not heard from the server since it was opened knows it by its copy.
    const later = open(page.key, { local, isOffline: true });
    await later.until(({ status }) => status === 'ready');
    await assert.rejects(later.ask([[says('three')]]), { code: 'connection_lost' });
    assert.deepEqual(await later.cache!.outbox.list(), []);
  });

  it('creates no session without the connection', async () => {
    const page = open();
    await page.chat.load();
    page.isOffline = true;
    await assert.rejects(page.ask([[says('one')]]), { code: 'connection_lost' });
    assert.deepEqual(await page.cache!.outbox.list(), []);
    page.isOffline = false;
    await page.chat.retry(Object.keys(page.snapshot.unsent)[0]!);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'one']);
    assert.equal(page.runs, 1);
  });

  it('refuses to edit', async () => {
    const page = open();
    const { id } = await page.ask([[says('one')]]);
    await page.settled();
    await assert.rejects(page.chat.regenerate(id), { code: 'unsupported', key: 'regenerate' });
    assert.deepEqual(linesOf(page.snapshot), ['…', 'one']);
  });
});

describe('A page over our handler and over adk api_server', { timeout: 180_000 }, () => {
  let ours: Awaited<ReturnType<typeof startScriptedAgents>>;
  let theirs: ApiServer;
  before(async () => {
    ours = await startScriptedAgents();
    theirs = await startApiServer((await sqliteServiceFiles()()).python);
  });
  after(async () => {
    await ours.end();
    await theirs.end();
  });

  /** Has a page of each server do the same, and requires that it returns the same. */
  async function requireSame(scenario: (page: Page) => Promise<unknown>): Promise<void> {
    const shown = [];
    for (const { url } of [ours, theirs]) {
      const page = new Page(url);
      shown.push(await scenario(page));
      requireOnce(page.seen);
      await page.close();
    }
    assert.deepEqual(shown[0], shown[1]);
  }

  it('shows the same question and answer of a confirmation', async () => {
    await requireSame(async (page) => {
      await page.ask([[calls(call('pay', 1))], [says('paid')]]);
      const { questions, run } = await page.until(({ questions }) => questions.length === 1);
      const [{ callId, kind, name, hint } = {}] = questions;
      await page.chat.answer({ [callId!]: { confirmed: true } });
      await page.until((snapshot) => linesOf(snapshot).at(-1) === 'paid');
      const end = await page.settled();
      return [kind, name, hint, run, linesOf(end).slice(-3), end.questions, end.run];
    });
  });

  it('shows the same of an exception of the agent, without the event that google-adk stores of it', async () => {
    await requireSame(async (page) => {
      const { id } = await page.chat.ask(userContent(scriptOf([[says('never')]])), {
        stateDelta: { lost: true },
      });
      const { run } = await page.until(({ run }) => run?.status === 'failed');
      assert.equal(run?.messageId, id);
      assert.ok(isSessionError(run.error, 'run_failed'));
      await page.chat.ask(userContent(scriptOf([[says('next')]])), { stateDelta: { lost: null } });
      await page.until((snapshot) => linesOf(snapshot).at(-1) === 'next');
      const { events, state } = await page.settled();
      return [events.filter(({ errorCode }) => errorCode === undefined).map(lineOf), state];
    });
  });

  it('shows the same of Stop, without the text that our handler keeps', async () => {
    await requireSame(async (page) => {
      const { id } = await page.ask([[partial('Gr'), { wait: 20 }, says('never')]]);
      await page.until(({ drafts }) => drafts.length === 1);
      await page.chat.cancel();
      const { run, events } = await page.until(({ run }) => run?.status === 'cancelled');
      assert.equal(run?.messageId, id);
      const lines = events.filter(({ interrupted }) => interrupted !== true).map(lineOf);
      await page.ask([[says('next')]]);
      await page.until((snapshot) => linesOf(snapshot).at(-1) === 'next');
      return lines;
    });
  });

  it('shows the same', async () => {
    const cases: readonly (readonly [last: string, Replies])[] = [
      ['one', [[partial('o'), { wait: 0.2 }, partial('n'), { wait: 0.2 }, says('one')]]],
      ['both', [[calls(call('buy', 1), call('buy', 2))], [says('both')]]],
      ['ordered', [[calls(call('order', 1))], [says('ordered')]]],
      ['one', [[partial('hm', true), partial('on'), says('one')]]],
    ];
    for (const [last, replies] of cases) {
      await requireSame(async (page) => {
        await page.ask(replies);
        // The handler's feed may tell the run a little later.
        await page.until((snapshot) => linesOf(snapshot).at(-1) === last);
        const { run, questions } = await page.settled();
        return {
          lines: linesOf(page.snapshot),
          status: run?.status,
          questions: questions.map(({ kind, name, args }) => ({ kind, name, args })),
          state: page.snapshot.state,
        };
      });
    }
  });
});
