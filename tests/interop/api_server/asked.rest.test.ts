// A page that asks the agents of the real `adk api_server`.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';

import type { Event } from '../../../js/index.js';
import { PAGE_MESSAGE } from '../../../js/values/model/event/metadata.js';
import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { type SharedDatabase, sqliteFiles } from '../database/shared_databases.js';
import { scriptOf } from '../runs/scripted_agents.js';
import { type ApiServer, startApiServer } from './api_server.js';
import {
  call,
  calls,
  linesOf,
  newKey,
  Page,
  partial,
  requireOnce,
  says,
  shownBy,
  userContent,
} from './pages.js';

describe('A page over adk api_server', { timeout: 180_000 }, () => {
  let server: ApiServer;
  let database: SharedDatabase;
  const pages: Page[] = [];
  const open = (key = newKey()): Page => {
    const page = new Page(server.url, key);
    pages.push(page);
    return page;
  };
  before(async () => {
    database = await sqliteFiles()();
    server = await startApiServer(database.python);
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
  });
  after(() => server.end());

  it('creates its session, shows the partial events as a draft, and then the message and the answer as stored', async () => {
    const page = open();
    const message = await page.ask([
      [partial('Green'), { wait: 0.2 }, partial(' tea'), { wait: 0.2 }, says('Green tea')],
    ]);
    const { events, run, unsent } = await page.settled();
    assert.deepEqual(shownBy(page.seen), [
      '-: ',
      '-: …',
      'queued: …',
      'running: …',
      'running: … | Green',
      'running: … | Green tea',
      '-: … | Green tea',
    ]);
    assert.deepEqual([run, { ...unsent }], [undefined, {}]);
    assert.deepEqual(message, events[0]);
    const { body } = await server.ask(`/apps/scripted/users/ada/sessions/${page.key.sessionId}`);
    const stored = (body as { events: Event[] }).events;
    assert.deepEqual(
      stored.map(({ id }) => id),
      events.map(({ id }) => id),
    );
    const asked = page.bodies[0]!.customMetadata as Record<string, unknown>;
    assert.deepEqual(stored[0]!.customMetadata, asked);
    assert.notEqual(asked[PAGE_MESSAGE], message.id);
    requireOnce(page.seen);
    assert.equal(page.runs, 1);
    const after = page.requests.slice(page.requests.indexOf('POST /run_sse') + 1);
    assert.equal(after.length, 3, 'the message, the first event, and the end');
  });

  it('shows an agent as running that is slow to begin, and queues the next message', async () => {
    const page = open();
    const first = page.ask([[{ wait: 0.5 }, says('late')]]);
    await page.until(({ run }) => run?.status === 'running');
    const second = page.ask([[says('next')]]);
    await Promise.all([first, second]);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'late', '…', 'next']);
    assert.ok(shownBy(page.seen).includes('running: … | …'));
    requireOnce(page.seen);
  });

  it('shows whole events as they come, with the changes of the state at the end', async () => {
    const page = open();
    await page.ask([
      [calls(call('buy', 1), call('buy', 2))],
      [{ wait: 0.3 }, partial('bo'), { wait: 0.2 }, says('both')],
    ]);
    const { state } = await page.settled();
    const shown = shownBy(page.seen);
    assert.ok(shown.includes('running: … | buy() buy() | =buy =buy'), shown.join('\n'));
    assert.equal(shown.at(-1), '-: … | buy() buy() | =buy =buy | both');
    assert.deepEqual(state, { bought_1: true, bought_2: true });
    requireOnce(page.seen);
  });

  it('shows thoughts, a transfer, and partial events around calls', async () => {
    const page = open();
    const transfer = { name: 'transfer_to_agent', args: { agent_name: 'helper' } };
    await page.ask([
      [partial('hm', true), calls(transfer)],
      [partial('hel'), { wait: 0.1 }, says('helped')],
    ]);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot).slice(-3), [
      'transfer_to_agent()',
      '=transfer_to_agent',
      'helped',
    ]);
    requireOnce(page.seen);
  });

  it('ignores partial events that come after their whole event', async () => {
    const page = open(newKey('script'));
    const steps = [
      { say: 'o', partial: true, id: 'a' },
      { say: 'one', id: 'a' },
      { say: 'late', partial: true, id: 'a' },
      { wait: 0.2 },
      { say: 'whole', partial: true, id: 'c' },
      { wait: 0.2 },
      { say: 'whole too', id: 'd' },
      { say: 'two', partial: true, id: 'b' },
    ];
    await page.chat.ask(userContent(JSON.stringify(steps)));
    await page.settled();
    assert.ok(!shownBy(page.seen).some((line) => line.includes('late')));
    // A partial event without a whole event is stored nowhere.
    assert.deepEqual(linesOf(page.snapshot), ['…', 'one', 'whole too']);
    // A whole event takes the place of its partial events also if it has another id.
    assert.ok(!shownBy(page.seen).some((line) => line.includes('whole | whole')));
    requireOnce(page.seen);
  });

  it('asks whether a tool may run, and the answer joins the invocation of its call', async () => {
    const page = open();
    await page.ask([[calls(call('pay', 1))], [partial('pa'), { wait: 0.1 }, says('paid')]]);
    const { questions, events } = await page.settled();
    const [question] = questions;
    assert.deepEqual([question?.kind, question?.name], ['confirmation', 'pay']);
    const asking = events.find(({ content }) =>
      content?.parts?.some(({ functionCall }) => functionCall?.id === question!.callId),
    )!;
    const answer = await page.chat.answer({ [question!.callId]: { confirmed: true } });
    const end = await page.settled();
    assert.equal(answer.invocationId, asking.invocationId);
    assert.equal(page.bodies[1]!.functionCallEventId, asking.id);
    assert.deepEqual(linesOf(end).slice(-3), ['=adk_request_confirmation', '=pay', 'paid']);
    assert.deepEqual(end.questions, []);
    await assert.rejects(page.chat.answer({ [question!.callId]: { confirmed: true } }), {
      code: 'invalid_argument',
    });
    assert.equal(page.runs, 2);
    requireOnce(page.seen);
    // During its run, a call is no question.
    const early = page.seen.filter(({ run, questions }) => run && questions.length > 0);
    assert.deepEqual(early, []);
  });

  it('answers a long-running call', async () => {
    const page = open();
    await page.ask([[calls(call('order', 1))], [says('ordered')], [says('it is here')]]);
    const { questions } = await page.settled();
    assert.deepEqual(
      questions.map(({ kind, name }) => [kind, name]),
      [['tool', 'order']],
    );
    await page.chat.answer({ [questions[0]!.callId]: { status: 'done' } });
    const end = await page.settled();
    assert.deepEqual(linesOf(end).slice(-2), ['=order', 'it is here']);
  });

  it('leaves a message unsent that the server refuses, and retries it once it is asked to', async () => {
    const page = open();
    await page.ask([[says('one')]]);
    await page.settled();
    const path = `/apps/scripted/users/ada/sessions/${page.key.sessionId}`;
    await server.ask(path, { method: 'DELETE' });
    await assert.rejects(page.ask([[says('two')]]), { code: 'not_found' });
    const refused = Object.entries(page.snapshot.unsent);
    assert.deepEqual(
      refused.map(([, { error }]) => (error as { code: string }).code),
      ['not_found'],
    );
    await server.ask('/apps/scripted/users/ada/sessions', { body: page.key });
    await page.chat.reload();
    await page.chat.retry(refused[0]![0]);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'two']);
    assert.deepEqual(Object.keys(page.snapshot.unsent), []);
  });

  it('leaves a message unsent that the server refuses at status 200, before it stores it', async () => {
    const page = open();
    const content = { role: 'user', parts: [{ functionCall: { name: 'buy', args: {} } }] };
    await assert.rejects(page.chat.ask(content), /User message cannot contain function calls/);
    assert.equal(Object.keys(page.snapshot.unsent).length, 1);
    assert.equal(page.runs, 1);
  });

  it('refuses to remove keys of the state before it sends anything', async () => {
    const page = open();
    const asked = page.chat.ask(userContent(scriptOf([[says('one')]])), {
      stateDelta: { topic: undefined },
    });
    await assert.rejects(asked, { code: 'unsupported', message: /set them to null/ });
    assert.equal(page.runs, 0);
    await page.chat.ask(userContent(scriptOf([[says('one')]])), { stateDelta: { topic: null } });
    assert.deepEqual((await page.settled()).state, { topic: null });
  });

  it('ends the run when it is stopped after a partial event, and goes on with the next message', async () => {
    const page = open();
    const { id } = await page.ask([[partial('Green'), { wait: 60 }, says('never')]]);
    await page.chat.cancel();
    const { run } = await page.settled();
    assert.deepEqual([run?.status, run?.messageId], ['cancelled', id]);
    assert.deepEqual(linesOf(page.snapshot), ['…', 'INVOCATION_ABORTED']);
    await page.ask([[says('next')]]);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'INVOCATION_ABORTED', '…', 'next']);
  });

  it('ends the run when it is stopped before the first partial event, by the id that the page has given', async () => {
    const page = open();
    const asked = page.ask([[{ wait: 5 }, says('never')]]);
    const { run, events } = await page.until(({ run }) => run?.status === 'running');
    assert.equal(run?.messageId, events.at(-1)?.id);
    // The server takes some milliseconds to store the message.
    for (;;) {
      const { body } = await server.ask(`/apps/scripted/users/ada/sessions/${page.key.sessionId}`);
      if ((body as { events: Event[] }).events.length > 0) break;
    }
    await page.chat.cancel(run!.messageId);
    const message = await asked;
    await page.settled();
    assert.equal(page.snapshot.run?.status, 'cancelled');
    assert.equal(page.snapshot.run.messageId, message.id);
    assert.deepEqual(linesOf(page.snapshot), ['…', 'INVOCATION_ABORTED']);
    requireOnce(page.seen);
  });

  it('stores nothing if it is stopped before it has sent anything', async () => {
    const page = open();
    await page.chat.load();
    const first = page.ask([[{ wait: 0.3 }, says('one')]]);
    const second = page.ask([[says('two')]]);
    const refused = assert.rejects(second, { code: 'aborted' });
    await page.chat.cancel(page.snapshot.events[1]!.id);
    await Promise.all([first, refused]);
    await page.settled();
    assert.deepEqual(linesOf(page.snapshot), ['…', 'one']);
    assert.equal(page.runs, 1);
  });

  it('goes on in a session that an earlier run has created', async () => {
    const first = open();
    await first.ask([[says('one')]]);
    await first.settled();
    const second = open(first.key);
    await second.ask([[says('two')]]);
    await second.settled();
    assert.deepEqual(linesOf(second.snapshot), ['…', 'one', '…', 'two']);
    assert.ok(!second.requests.some((request) => request.startsWith('POST /apps')));
  });

  it('reads a session of 3,000 events three times in a run', async (t) => {
    const page = open();
    const { sessionId } = page.key;
    const events = Array.from({ length: 3000 }, (_, index) => ({
      id: `e${index}`,
      invocationId: `i${index >> 1}`,
      timestamp: 1000 + index,
      ...(index % 2 === 0
        ? { author: 'user', content: userContent(`Question ${index}: which tea is it?`) }
        : { author: 'guide', ...says(`Answer ${index}: a green tea, steeped for two minutes.`) }),
    }));
    const writer = new DatabaseSessionService(database.ours);
    await writer.createSession({ ...page.key, events });
    await writer.close();
    await page.chat.load();
    const begin = performance.now();
    await page.ask([[partial('Gr'), says('Green tea')]]);
    const snapshot = await page.settled();
    const passedMs = Math.round(performance.now() - begin);
    assert.deepEqual(linesOf(snapshot).slice(-2), ['…', 'Green tea']);
    const path = `/apps/scripted/users/ada/sessions/${sessionId}`;
    const later = page.requests.slice(page.requests.indexOf('POST /run_sse') + 1);
    const reads = later.filter((request) => request === `GET ${path}`);
    assert.equal(reads.length, 3);
    const { body } = await server.ask(path);
    assert.equal((body as { events: Event[] }).events.length, 3002);
    const megabytes = (JSON.stringify(body).length / 1e6).toFixed(1);
    t.diagnostic(`${reads.length} reads of ${megabytes} MB, ${passedMs} ms in all`);
    requireOnce(page.seen.slice(-1));
  });

  it('refuses by name what the server has no route for, and changes nothing', async () => {
    const page = open();
    const { id } = await page.ask([[says('one')]]);
    await page.settled();
    const { events } = page.snapshot;
    for (const [name, change] of [
      ['edit', () => page.chat.edit(id, userContent('two'))],
      ['regenerate', () => page.chat.regenerate(id)],
      ['switchBranch', () => page.chat.switchBranch('b')],
    ] as const) {
      await assert.rejects(change(), { code: 'unsupported', key: name });
    }
    assert.deepEqual((await page.service.getSession(page.key))?.events, events);
  });

  it('never asks for changes, and a list of this page is told its runs', async () => {
    const page = open();
    const { appName, userId } = page.key;
    const told: unknown[] = [];
    const stop = page.service.watch(
      { appName, userId },
      { onNotice: ({ type }) => void told.push(type) },
    );
    await page.ask([[says('one')]]);
    await page.settled();
    await page.service.deleteSession(page.key);
    await page.until(() => told.length >= 3);
    stop();
    assert.deepEqual(told, ['updated', 'updated', 'deleted']);
    assert.ok(!page.requests.some((request) => request.endsWith('/changes')));
  });
});
