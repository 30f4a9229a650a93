// Runs that other processes tell by a channel, and what one process asks of another. Handlers over services of several
// storage objects stand for processes: they share the rows, and nothing else.

import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';

import { type AppendEventsRequest, type Event } from '../../../../js/index.js';
import { OPEN_HEADER, openText, parseOpen } from '../../../../js/stores/http/protocol.js';
import { Hub } from '../../core/watch/hub.js';
import { says, textsOf } from '../../ui/live/runs/agents.js';
import { answerOf, KEY, requestTo, SESSION } from '../fixture.js';
import { asked, EVENTS, messageJson, RUN } from './fixture.js';
import { mockProcesses, pass, passedMs, type Process, processes, settled } from './processes.js';

const REWIND = `${SESSION}/rewind`;
/** A rewind that sends `m1` again as `m2`. */
const AGAIN = {
  body: {
    place: { turn: 'm1' },
    marker: { invocationId: 'w1', id: 'w1' },
    message: messageJson('m2'),
    run: {},
  },
};
const ENDED = 'INVOCATION_ABORTED';

/** The id of a user's event, and the code or the text of an agent's. */
const nameOf = (event: Event): string | undefined =>
  event.author === 'user' ? event.id : (event.errorCode ?? textsOf([event])[0]);

mockProcesses();

describe('The runs of other processes', () => {
  it('come to the feeds of a process with their drafts, by growth, and end there', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    assert.deepEqual([feed.report()?.status, feed.report()?.messageId], ['running', 'm1']);
    const long = 'Green'.repeat(200);
    a.agent.say(long);
    await pass(400);
    assert.deepEqual(feed.drafts(), [long]);
    a.agent.say(' tea');
    await pass(400);
    assert.deepEqual(feed.drafts(), [`${long} tea`]);
    assert.equal(hub.texts.filter((text) => text.includes(long)).length, 1);
    const reports = feed.data.filter((data) => (data as { type: string }).type === 'run');
    assert.ok(reports.length > 2);
    assert.ok(!reports.some((report) => 'number' in (report as object)));
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });

  it('are told whole to a feed that begins in the middle of a run', async () => {
    const { a, b } = await processes(2);
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    const feed = await b.feed();
    await pass(400);
    assert.deepEqual([feed.report()?.status, feed.drafts()], ['running', ['Green']]);
  });

  it('are told again after a lost text', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    hub.isCut = true;
    a.agent.say(' tea');
    await pass(400);
    hub.isCut = false;
    assert.deepEqual(feed.drafts(), ['Green']);
    a.agent.say(' leaves');
    await pass(600);
    assert.deepEqual(feed.drafts(), ['Green tea leaves']);
    hub.isCut = true;
    a.agent.say(undefined);
    await pass(400);
    hub.isCut = false;
    assert.equal(feed.report()?.status, 'running');
    await pass(6000);
    assert.equal(feed.report(), undefined);
  });

  it('have no drafts without a feed elsewhere, and none 30 seconds after the last', async () => {
    const { a, b, hub } = await processes(2);
    await a.feed();
    await a.ask(EVENTS, asked('m1'));
    const isTold = async (text: string): Promise<boolean> => {
      a.agent.say(text);
      await pass(400);
      return hub.texts.some((told) => told.includes(text));
    };
    assert.equal(await isTold('Green'), false);
    assert.ok(hub.texts.some((text) => text.includes('"status":"running"')));
    const feed = await b.feed();
    assert.equal(await isTold(' tea'), true);
    await pass(60_000);
    assert.equal(await isTold(' leaves'), true);
    feed.end();
    await pass(20_000);
    assert.equal(await isTold(' of'), true);
    await pass(30_000);
    assert.equal(await isTold(' spring'), false);
  });

  it('have no drafts with the option drafts: false', async () => {
    const { a, b, hub } = await processes(2, { drafts: false });
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    assert.deepEqual([feed.report()?.status, feed.drafts()], ['running', []]);
    assert.ok(!hub.texts.some((text) => text.includes('Green')));
  });

  it('let a process refuse a second message until they have ended', async () => {
    const { a, b, events } = await processes(2);
    await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    const { status, body } = await b.ask(EVENTS, asked('m2'));
    assert.deepEqual([status, (body as { code: string }).code], [409, 'agent_running']);
    a.agent.say('Tea');
    a.agent.say(undefined);
    await pass(400);
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 200);
    b.agent.say('Tea');
    b.agent.say(undefined);
    await pass(400);
    assert.deepEqual([a.agent.seen, b.agent.seen], [['m1'], ['m2']]);
    assert.equal((await events()).length, 4);
  });

  it('refuse a message behind their first answer, also while the text that tells them is under way', async () => {
    const { a, b, hub, events } = await processes(2);
    await pass(300);
    hub.isCut = true;
    await a.ask(EVENTS, asked('m1'));
    const session = (await a.service.getSession(KEY))!;
    const answer = { author: 'guide', invocationId: 'i-m1', content: says('Green') };
    await a.service.appendEvent({ session, event: answer });
    await pass(300);
    hub.isCut = false;
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 409);
    a.agent.say('tea');
    a.agent.say(undefined);
    await pass(300);
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 200);
    assert.deepEqual((await events()).map(nameOf), ['m1', 'Green', 'tea', 'm2']);
    b.agent.say(undefined);
    await pass(300);
  });

  it('that have told their end are not asked for', async () => {
    const { a, b, hub } = await processes(2);
    await pass(300);
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('tea');
    a.agent.say(undefined);
    await pass(300);
    hub.texts.splice(0);
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 200);
    assert.ok(!hub.texts.some((text) => text.includes('"type":"ask"')));
    b.agent.say(undefined);
    await pass(300);
  });

  it('come to a process whose own message they have refused', async () => {
    const { a, b } = await processes(2);
    const all = [a, b];
    const feeds = await Promise.all(all.map((one) => one.feed()));
    const asking = Promise.all(all.map((one, n) => one.handler(requestTo(EVENTS, asked(`m${n}`)))));
    const [responses] = await settled(asking);
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
    await pass(400);
    const first = responses[0]!.status === 200 ? 'm0' : 'm1';
    const told = feeds.map((feed) => feed.report()?.messageId);
    assert.deepEqual(told, [first, first]);
  });

  it('that another process has taken over are not told again, if their process is heard again', async () => {
    const { a, b, c, kill } = await processes(3);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(400);
    const revive = kill(0);
    assert.equal((await c.ask(EVENTS, asked('m2'))).status, 200);
    await pass(400);
    assert.equal(feed.report()?.messageId, 'm2');
    const before = feed.data.length;
    revive();
    for (const one of [a, c, a, c]) {
      one.agent.say('Green');
      await pass(400);
    }
    const told = feed.data.slice(before) as { messageId?: string }[];
    assert.ok(told.length > 1);
    assert.ok(!told.some(({ messageId }) => messageId === 'm1'));
    assert.deepEqual(feed.drafts(), ['GreenGreen']);
  });

  it('are cancelled by another process, which waits until their end is stored', async () => {
    const { a, b, events } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    const { body } = await b.ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
    assert.deepEqual(body, { cancelled: true });
    const stored = await events();
    assert.ok(stored.some(({ errorCode }) => errorCode === 'INVOCATION_ABORTED'));
    await pass(400);
    assert.equal(feed.report()?.status, 'cancelled');
    assert.equal((await events()).length, stored.length);
  });

  it('that no process has are cancelled by several processes with one end event', async () => {
    const { a, b, c, events } = await processes(3);
    await a.ask(EVENTS, { body: { events: [messageJson('m1')] } });
    const cancel = (one: Process) => one.ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
    const answers = await Promise.all([a, b, c].map(cancel));
    const cancelled = answers.map(({ body }) => (body as { cancelled: boolean }).cancelled);
    assert.deepEqual(cancelled.sort(), [false, false, true]);
    assert.deepEqual((await events()).map(nameOf), ['m1', ENDED]);
  });

  it('that another process has not heard of are cancelled by it with one end event', async () => {
    const { a, b, hub, events } = await processes(2);
    hub.isCut = true;
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    hub.isCut = false;
    const { body } = await b.ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
    assert.deepEqual(body, { cancelled: true });
    await pass(400);
    const stored = (await events()).map(nameOf);
    assert.equal(stored.filter((name) => name === ENDED).length, 1, stored.join());
    assert.deepEqual(a.agent.stopped, ['m1']);
  });

  for (const [title, end, stored] of [
    ['its answer', { content: says('Tea') }, ['m1', 'Tea']],
    ['its failure', { errorCode: 'RUN_FAILED' }, ['m1', 'RUN_FAILED']],
  ] as const) {
    it(`are not cancelled by another process that reads before ${title} is stored`, async () => {
      const { a, b, events } = await processes(2);
      await a.ask(EVENTS, { body: { events: [messageJson('m1')] } });
      const session = (await a.service.getSession(KEY))!;
      const append = b.service.appendEvents.bind(b.service);
      const late = async (request: AppendEventsRequest) => {
        b.service.appendEvents = append;
        await a.service.appendEvent({
          session,
          event: { author: 'guide', invocationId: 'i-m1', ...end },
        });
        return append(request);
      };
      b.service.appendEvents = late as typeof append;
      const response = b.handler(requestTo(`${RUN}?messageId=m1`, { method: 'DELETE' }));
      assert.deepEqual((await answerOf(await response)).body, { cancelled: false });
      assert.deepEqual((await events()).map(nameOf), stored);
    });
  }

  it('of a process that is gone hold up a cancel only until that is known', async () => {
    const { a, b, kill } = await processes(2);
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    kill(0);
    await pass(3000);
    const request = requestTo(`${RUN}?messageId=m1`, { method: 'DELETE' });
    const [response, tookMs] = await settled(b.handler(request));
    assert.deepEqual((await answerOf(response)).body, { cancelled: true });
    assert.ok(tookMs <= 2000, String(tookMs));
  });

  it('that are over do not hold up a cancel, if their end was not heard', async () => {
    const { a, b, hub } = await processes(2);
    await a.ask(EVENTS, asked('m1'));
    await pass(400);
    hub.isCut = true;
    a.agent.say('Green');
    a.agent.say(undefined);
    await pass(100);
    hub.isCut = false;
    const request = requestTo(`${RUN}?messageId=m1`, { method: 'DELETE' });
    const [response, tookMs] = await settled(b.handler(request));
    assert.deepEqual((await answerOf(response)).body, { cancelled: false });
    assert.ok(tookMs <= 200, String(tookMs));
  });

  it('are refused for 30 seconds if another process has cancelled their message before it came', async () => {
    const clock = mock.method(Date, 'now');
    const began = Date.now();
    const { a, b } = await processes(2);
    await a.feed();
    const { body } = await b.ask(`${RUN}?messageId=m1`, { method: 'DELETE' });
    assert.deepEqual(body, { cancelled: false });
    await pass(200);
    const refused = await a.ask(EVENTS, asked('m1'));
    assert.deepEqual([refused.status, (refused.body as { code: string }).code], [409, 'aborted']);
    clock.mock.mockImplementation(() => began + 31_000);
    assert.equal((await a.ask(EVENTS, asked('m1'))).status, 200);
    a.agent.say(undefined);
    await pass(400);
  });

  it('end when another process deletes their session', async () => {
    const { a, b } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    assert.equal(feed.report()?.status, 'running');
    await b.ask(SESSION, { method: 'DELETE' });
    await pass(400);
    assert.equal(feed.report(), undefined);
    assert.deepEqual(a.agent.stopped, ['m1']);
  });

  it('end in the append of a rewind at another process, with their texts so far', async () => {
    const { a, b, events } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(50);
    a.agent.say(' tea');
    await pass(50);
    assert.deepEqual(feed.drafts(), []);
    const rewound = await b.ask(REWIND, AGAIN);
    assert.equal(rewound.status, 200, JSON.stringify(rewound.body));
    await pass(400);
    assert.equal(feed.report()?.messageId, 'm2');
    assert.deepEqual(a.agent.stopped, ['m1']);
    const stored = await events();
    assert.deepEqual(stored.map(nameOf), ['m1', 'Green tea', ENDED, 'w1', 'm2']);
    b.agent.say(undefined);
    await pass(400);
  });

  it('end without their texts at a rewind with the option drafts: false', async () => {
    const { a, b, hub, events } = await processes(2, { drafts: false });
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(400);
    assert.equal((await b.ask(REWIND, AGAIN)).status, 200);
    assert.deepEqual((await events()).map(nameOf), ['m1', ENDED, 'w1', 'm2']);
    assert.ok(!hub.texts.some((text) => text.includes('Green')));
    b.agent.say(undefined);
    await pass(400);
  });

  it('that are over are not ended by a rewind, if their end was not heard', async () => {
    const { a, b, hub, events } = await processes(2);
    await a.ask(EVENTS, asked('m1'));
    await pass(400);
    hub.isCut = true;
    a.agent.say('Green');
    a.agent.say(undefined);
    await pass(100);
    hub.isCut = false;
    assert.equal((await b.ask(REWIND, AGAIN)).status, 200);
    assert.deepEqual((await events()).map(nameOf), ['m1', 'Green', 'w1', 'm2']);
    b.agent.say(undefined);
    await pass(400);
  });

  for (const [title, isKilled] of [
    ['is gone', true],
    ['does not answer', false],
  ] as const) {
    it(`of a process that ${title} hold up a rewind for two seconds, which then ends them`, async () => {
      const { a, b, hub, events, kill } = await processes(2);
      await a.ask(EVENTS, asked('m1'));
      a.agent.say('Green');
      await pass(400);
      if (isKilled) kill(0);
      else hub.isCut = true;
      const [response, tookMs] = await settled(b.handler(requestTo(REWIND, AGAIN)));
      assert.equal(response.status, 200);
      assert.ok(tookMs >= 1900 && tookMs <= 3500, String(tookMs));
      a.agent.say(undefined);
      b.agent.say('Tea');
      b.agent.say(undefined);
      await pass(400);
      assert.deepEqual((await events()).map(nameOf), ['m1', ENDED, 'w1', 'm2', 'Tea']);
      hub.isCut = false;
    });
  }

  it('that are answered are not ended by a rewind, if their process is gone', async () => {
    const { a, b, events, kill } = await processes(2);
    await a.ask(EVENTS, asked('m1'));
    await pass(400);
    kill(0);
    a.agent.say('Green');
    a.agent.say(undefined);
    assert.equal((await b.ask(REWIND, AGAIN)).status, 200);
    assert.deepEqual((await events()).map(nameOf), ['m1', 'Green', 'w1', 'm2']);
    b.agent.say(undefined);
    await pass(400);
  });

  it('end when a rewind without a run at another process has undone them', async () => {
    const { a, b } = await processes(2);
    await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    const place = { before: { invocationId: 'i-m1' } };
    const body = { place, marker: { invocationId: 'w1', id: 'w1' } };
    assert.equal((await b.ask(`${SESSION}/rewind`, { body })).status, 200);
    await pass(400);
    assert.deepEqual(a.agent.stopped, ['m1']);
  });

  it('of a process that is gone end after some seconds, and a message waits two of them at most', async () => {
    const { a, b, kill } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    kill(0);
    const asking = b.handler(requestTo(EVENTS, asked('m2')));
    const [response, tookMs] = await settled(asking);
    assert.equal(response.status, 200);
    assert.ok(tookMs <= 2200, String(tookMs));
    await pass(300);
    assert.equal(feed.report()?.messageId, 'm2');
    b.agent.say(undefined);
    await pass(400);
  });

  it('of a process that is gone hold up a process that has only listened for two seconds at most', async () => {
    const { a, b, kill } = await processes(2);
    await pass(300);
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    kill(0);
    const [response, tookMs] = await settled(b.handler(requestTo(EVENTS, asked('m2'))));
    assert.equal(response.status, 200);
    assert.ok(tookMs <= 2200, String(tookMs));
    b.agent.say(undefined);
    await pass(400);
  });

  it('of a process that closes end at once, also those whose end it could not store', async () => {
    const { a, b, events } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    assert.equal(feed.report()?.status, 'running');
    await a.service.close({ timeoutMs: 0 });
    await pass(200);
    assert.equal(feed.report(), undefined);
    const [response, tookMs] = await settled(b.handler(requestTo(EVENTS, asked('m2'))));
    assert.deepEqual([response.status, tookMs <= 100], [200, true]);
    assert.deepEqual((await events()).map(nameOf), ['m1', ENDED, 'm2']);
    b.agent.say(undefined);
    await pass(400);
  });

  it('of a process that is gone hold up only the first question for two seconds', async () => {
    const { a, b, kill } = await processes(2);
    const [first, second, third] = await Promise.all(['x', 'y', 'z'].map((id) => a.begin(id)));
    await pass(300);
    kill(0);
    const began = passedMs();
    const asking = b.handler(requestTo(first!, asked('m2')));
    await pass(1000);
    const meanwhile = await settled(b.handler(requestTo(second!, asked('m2'))));
    assert.ok(passedMs() - began <= 2200, String(passedMs() - began));
    const later = await settled(b.handler(requestTo(third!, asked('m2'))));
    assert.ok(later[1] <= 100, String(later[1]));
    const statuses = [await asking, meanwhile[0], later[0]].map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 200]);
  });

  it('are asked for by one question for all runs of a process', async () => {
    const { a, b, hub } = await processes(2);
    await b.feed();
    await Promise.all(['x', 'y', 'z'].map((id) => a.begin(id)));
    await pass(8000);
    const questions = hub.texts.flatMap((text) => text.split('"type":"ask"').slice(1));
    const texts = hub.texts.filter((text) => text.includes('"type":"ask"'));
    assert.ok(texts.length > 1);
    assert.equal(questions.length, texts.length);
    assert.ok(questions.every((question) => question.split('"messageId"').length === 4));
  });

  it('of a process that was taken for gone are known again once it is heard', async () => {
    const { a, b, kill, channels } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    a.agent.say('Green');
    await pass(300);
    const revive = kill(0);
    await pass(6000);
    assert.equal(feed.report(), undefined);
    revive();
    channels[0]!.onmissed!();
    await pass(600);
    assert.deepEqual([feed.report()?.status, feed.drafts()], ['running', ['Green']]);
    assert.equal((await b.ask(EVENTS, asked('m2'))).status, 409);
  });

  it('of a process that says anything within two seconds stay, also if it has not heard the question', async () => {
    const { a, b, channels } = await processes(2);
    await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(3000);
    const { onmessage } = channels[0]!;
    channels[0]!.onmessage = (message) => {
      if (!String(message.data).includes('"type":"ask"')) onmessage!(message);
    };
    const asking = settled(b.handler(requestTo(EVENTS, asked('m2'))));
    for (let second = 0; second < 5; second += 1) {
      a.agent.say('Green');
      await pass(1000);
    }
    const [response] = await asking;
    assert.equal(response.status, 409);
    assert.deepEqual(a.agent.stopped, []);
  });

  it('of a process that dies before it tells them end for a page that reads, which waits two seconds once', async () => {
    const { a, b, kill } = await processes(2);
    const read = () => b.handler(requestTo(SESSION));
    await pass(5000);
    kill(0);
    await a.ask(EVENTS, asked('m1'));
    const reading = Promise.all([read(), read()]);
    await pass(2200);
    // From here on no time passes.
    const responses = [...(await reading), await read()];
    const told = new Set(responses.map(({ headers }) => headers.get(OPEN_HEADER)));
    assert.deepEqual([...told], [openText(undefined)]);
  });

  it('are read without a wait from the second time on while the process itself hears nothing', async () => {
    const { a, b, hub } = await processes(2);
    await pass(5000);
    hub.isCut = true;
    await a.ask(EVENTS, asked('m1'));
    const read = () => b.handler(requestTo(SESSION));
    const reading = read();
    await pass(2200);
    // From here on no time passes.
    const responses = [await reading, await read()];
    const told = responses.map(({ headers }) => parseOpen(headers.get(OPEN_HEADER)!)?.messageId);
    assert.deepEqual(told, ['m1', 'm1']);
    hub.isCut = false;
    a.agent.say(undefined);
    await pass(400);
  });

  for (const echoes of [true, false]) {
    const title = echoes ? 'end for' : 'are not ended by';
    const channel = echoes ? 'a channel' : 'a channel that does not return its texts';
    it(`of a process that is gone ${title} a process that never heard it on ${channel}`, async () => {
      const hub = new Hub({ echoes, tellsMissed: true });
      const { a, kill, reopen } = await processes(1, { hub });
      await a.ask(EVENTS, asked('m1'));
      kill(0);
      const next = await reopen(1);
      await pass(1000);
      const [response, tookMs] = await settled(next.handler(requestTo(EVENTS, asked('m2'))));
      assert.equal(response.status, echoes ? 200 : 409);
      assert.ok(tookMs <= 2200, String(tookMs));
    });
  }

  it('are heard by a handler over a service that was opened again', async () => {
    const { a, b, reopen } = await processes(2);
    await b.feed();
    await b.handler.close({ graceMs: 0 });
    await b.service.close({ timeoutMs: 0 });
    const again = await reopen(1);
    const feed = await again.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(400);
    assert.equal(feed.report()?.status, 'running');
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });

  it('of a process that is gone end in the feeds of the others', async () => {
    const { a, b, kill } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    kill(0);
    await pass(3000);
    assert.equal(feed.report()?.status, 'running');
    await pass(3000);
    assert.equal(feed.report(), undefined);
  });

  it('stay while the process itself hears nothing', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    hub.isCut = true;
    await pass(20_000);
    assert.equal(feed.report()?.status, 'running');
    const { status } = await b.ask(EVENTS, asked('m2'));
    assert.equal(status, 409);
    hub.isCut = false;
    a.agent.say(undefined);
    await pass(8000);
    assert.equal(feed.report(), undefined);
  });

  it('are asked from a process that answers, however long it says nothing', async () => {
    const { a, b } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(60_000);
    assert.equal(feed.report()?.status, 'running');
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });

  it('are not changed by messages of another form', async () => {
    const { a, b, hub } = await processes(2);
    const feed = await b.feed();
    await a.ask(EVENTS, asked('m1'));
    await pass(300);
    const run = { ...KEY, messageId: 'm1', invocationId: 'i', status: 'ended', drafts: [] };
    const forged: unknown[] = [
      null,
      {},
      { from: 'x' },
      { from: 'x', type: 'toString' },
      { from: 'x', type: 'run' },
      { from: 'x', type: 'run', step: 1, run: {} },
      { from: 'x', type: 'run', step: -1, run },
      { from: 'x', type: 'run', step: 1, run: { ...run, status: 'odd' } },
      { from: 'x', type: 'run', step: 1, run },
      { from: 'x', type: 'stop', id: 'i', key: { appName: 'a' }, reason: 'cancelled' },
      { from: 'x', type: 'stop', id: 'i', key: KEY, reason: 'odd' },
      { from: 'x', type: 'ask', id: 'i', to: 7, key: KEY, messageId: 'm1' },
      { from: 'x', type: 'feeds', owners: [{}], areNew: true },
      { from: 'x', type: 'answer', id: 'unknown', isRunning: true },
    ];
    const text = JSON.stringify(['forger', 1, { format: 1, processRuns: forged }]);
    hub.deliver(hub.names[0], text);
    await pass(400);
    assert.equal(feed.report()?.status, 'running');
    a.agent.say(undefined);
    await pass(400);
    assert.equal(feed.report(), undefined);
  });
});
