import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, isSessionError } from '../../../../../js/index.js';
import {
  liveSession,
  type LiveSessionSnapshot,
  type RunAgent,
} from '../../../../../js/ui/live/index.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, echo, gate, openChat, says, textsOf } from './agents.js';
import { failsWith } from '../../../fails_with.js';

const isIdle = ({ run }: LiveSessionSnapshot): boolean => run === undefined;
const hasStatus = (status: string) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run?.status === status;

describe('ask', () => {
  it('stores the message and the answer, and creates the session', async () => {
    const { service, chat, stop } = await openChat(echo, { initialState: { cups: 1 } });
    const message = await chat.ask(asks('hi'), { stateDelta: { topic: 'tea' } });
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    stop();
    const session = await service.getSession(KEY);
    assert.deepEqual(textsOf(session?.events ?? []), ['hi', 'hi!']);
    assert.equal(session?.events[0]?.id, message.id);
    assert.equal(session.events[1]?.invocationId, message.invocationId);
    assert.deepEqual(session.state, { cups: 1, topic: 'tea' });
  });

  it('and edit take a text, and an agent may yield texts', async () => {
    const agent: RunAgent = async function* ({ message }) {
      yield { author: 'guide', content: 'Gr', partial: true };
      yield { author: 'guide', content: `${message.content?.parts?.[0]?.text}!` };
    };
    const { service, chat, stop } = await openChat(agent);
    const { id } = await chat.ask('hi');
    await snapshotOf(chat, ({ events }) => events.length === 2);
    const { content } = await chat.edit(id, 'ho');
    assert.deepEqual(content, { role: 'user', parts: [{ text: 'ho' }] });
    const { events } = await snapshotOf(
      chat,
      ({ events: [first, answer] }) => first?.id !== id && answer !== undefined,
    );
    stop();
    assert.deepEqual(textsOf(events), ['ho', 'ho!']);
    const { events: all } = (await service.getSession(KEY))!;
    assert.ok(all.every((event) => typeof event.content !== 'string'));
    assert.equal(events[1]?.content?.role, 'model');
  });

  it('shows the message at once, and the run while it works', async () => {
    const go = gate();
    const agent: RunAgent = async function* () {
      await go.opened;
      yield { author: 'guide', content: says('Green') };
    };
    const { chat, stop } = await openChat(agent);
    const asking = chat.ask(asks('hi'));
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi']);
    const { run } = await snapshotOf(chat, hasStatus('running'));
    assert.equal(run?.messageId, chat.getSnapshot().events[0]?.id);
    go.open();
    const message = await asking;
    assert.equal(message.id, run?.messageId);
    await snapshotOf(chat, isIdle);
    assert.deepEqual(chat.getSnapshot().unsent, Object.create(null));
    stop();
  });

  it('waits for the run before it, in the order of the calls', async () => {
    const go = gate();
    const seen: unknown[] = [];
    const agent: RunAgent = async function* ({ message, service }) {
      seen.push((await service.getSession(KEY))?.events.length);
      yield* echo({ message } as Parameters<RunAgent>[0]);
      await go.opened;
    };
    const { service, chat, stop } = await openChat(agent);
    const asking = ['1', '2', '3'].map((text) => chat.ask(asks(text)));
    await asking[0];
    assert.deepEqual(textsOf((await service.getSession(KEY))?.events ?? []), ['1', '1!']);
    go.open();
    await Promise.all(asking);
    await snapshotOf(chat, ({ events, run }) => events.length === 6 && run === undefined);
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['1', '1!', '2', '2!', '3', '3!']);
    assert.deepEqual(seen, [1, 3, 5]);
    stop();
  });

  it('shares runs and queue with the other stores of the session', async () => {
    const go = gate();
    const agent: RunAgent = async function* ({ message }) {
      yield { author: 'guide', partial: true, content: says('Gr') };
      await go.opened;
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { service, chat, stop } = await openChat(agent);
    const { chat: other, stop: stopOther } = await openChat(echo, { service });
    const first = chat.ask(asks('1'));
    const seen = await snapshotOf(other, ({ drafts }) => drafts.length > 0);
    assert.deepEqual(textsOf(seen.drafts), ['Gr']);
    assert.equal(seen.run?.status, 'running');
    const second = other.ask(asks('2'));
    go.open();
    await Promise.all([first, second]);
    await snapshotOf(other, ({ events, run }) => events.length === 4 && run === undefined);
    assert.deepEqual(textsOf(other.getSnapshot().events), ['1', '1!', '2', '2!']);
    stop();
    stopOther();
  });

  it('continues when nobody watches the store any more', async () => {
    const go = gate();
    const agent: RunAgent = async function* ({ message }) {
      await go.opened;
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { service, chat, stop } = await openChat(agent);
    const asking = chat.ask(asks('hi'));
    stop();
    go.open();
    await asking;
    const { chat: later, stop: stopLater } = await openChat(agent, { service });
    await snapshotOf(later, ({ events }) => events.length === 2);
    stopLater();
  });

  it('works without a subscriber', async () => {
    const service = new InMemorySessionService();
    const chat = liveSession(service, KEY, { run: echo });
    await chat.ask(asks('hi'));
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi']);
    const isAnswered = async () => (await service.getSession(KEY))?.events.length === 2;
    while (!(await isAnswered())) await new Promise((resolve) => setTimeout(resolve, 1));
    await chat.reload();
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'hi!']);
  });

  it('is unsupported without an agent', async () => {
    const { chat, stop } = await openChat(undefined);
    await assert.rejects(chat.ask(asks('hi')), failsWith('unsupported'));
    stop();
  });

  it('refuses a message that is no content or has no part, and an agent that is no function', async () => {
    const { chat, stop } = await openChat(echo);
    await assert.rejects(chat.ask(5 as never), failsWith('invalid_argument'));
    await assert.rejects(chat.ask({ role: 'user' }), failsWith('invalid_argument'));
    await assert.rejects(chat.edit('m', { parts: [] }), failsWith('invalid_argument'));
    assert.deepEqual(chat.getSnapshot().events, []);
    stop();
    assert.throws(
      () => liveSession(new InMemorySessionService(), KEY, { run: 7 as never }),
      failsWith('invalid_argument'),
    );
  });
});

describe('A draft', () => {
  it('grows with the partial events, and leaves in the snapshot in which its event appears', async () => {
    const agent: RunAgent = async function* () {
      for (const text of ['Green', ' ', 'tea']) {
        yield { author: 'guide', partial: true, content: says(text) };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      yield { author: 'guide', content: says('Green tea') };
      yield { author: 'guide', partial: true, content: says('And') };
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield { author: 'guide', content: says('And black') };
    };
    const { chat, stop } = await openChat(agent);
    const shown: number[] = [];
    const twice: string[] = [];
    const stopLooking = chat.subscribe(({ events, drafts }) => {
      const texts = textsOf([...events, ...drafts]);
      shown.push(texts.join('').length);
      if (texts.length > 3) twice.push(texts.join('|'));
    });
    await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 3);
    stopLooking();
    stop();
    assert.deepEqual(chat.getSnapshot().drafts, []);
    assert.deepEqual(twice, []);
    assert.deepEqual(
      shown,
      [...shown].sort((one, other) => one - other),
      'it gets no shorter',
    );
    assert.ok(shown.length > 4, 'partial events are shown as they come');
  });

  it('of a run that has ended is not shown by a store that begins later', async () => {
    const agent: RunAgent = async function* ({ message }) {
      yield { author: 'guide', partial: true, content: says('Gr') };
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { service, chat, stop } = await openChat(agent);
    await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 2);
    stop();
    const { chat: later, stop: stopLater } = await openChat(agent, { service });
    assert.deepEqual(later.getSnapshot().drafts, []);
    assert.equal(later.getSnapshot().run, undefined);
    stopLater();
  });

  it('leaves when a run ends whose answer somebody else stores', async () => {
    const service = new InMemorySessionService();
    const agent: RunAgent = async function* ({ session: open, message: { invocationId } }) {
      const session = await open();
      yield { author: 'guide', partial: true, content: says('Green') };
      const event = { invocationId, author: 'guide', content: says('Green tea') };
      await service.appendEvent({ session: { ...session, events: [] }, event });
    };
    const { chat, stop } = await openChat(agent, { service });
    await chat.ask(asks('hi'));
    const { events } = await snapshotOf(chat, ({ drafts, run, events }) => {
      return drafts.length === 0 && run === undefined && events.length === 2;
    });
    stop();
    assert.deepEqual(textsOf(events), ['hi', 'Green tea']);
  });
});

describe('A run that fails', () => {
  it('before its first event leaves the stored message, and regenerate asks it again', async () => {
    let fails = true;
    const agent: RunAgent = (context) => {
      if (fails) throw new Error('no model');
      return echo(context);
    };
    const { service, chat, stop } = await openChat(agent);
    const message = await chat.ask(asks('hi'));
    const { run, unsent } = await snapshotOf(chat, hasStatus('failed'));
    assert.equal(run?.messageId, message.id);
    assert.ok(isSessionError(run.error, 'run_failed'));
    assert.match(String(run.error.cause), /no model/);
    assert.deepEqual(Object.keys(unsent), []);
    const [stored, end] = (await service.getSession(KEY))?.events ?? [];
    assert.deepEqual(textsOf([stored!]), ['hi']);
    assert.deepEqual([end?.errorCode, end?.errorMessage], ['RUN_FAILED', 'The agent failed.']);
    fails = false;
    await chat.regenerate(message.id);
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    stop();
  });

  it('after its first event is failed until the next message, and regenerate answers again', async () => {
    let fails = true;
    const agent: RunAgent = async function* ({ message }) {
      yield { author: 'guide', partial: true, content: says('Gr') };
      if (fails) throw new Error('no model');
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { chat, stop } = await openChat(agent);
    const message = await chat.ask(asks('hi'));
    const { run } = await snapshotOf(chat, hasStatus('failed'));
    assert.equal(run?.messageId, message.id);
    assert.ok(isSessionError(run.error, 'run_failed'));
    assert.match(String(run.error.cause), /no model/);
    const failed = await snapshotOf(chat, ({ events }) => events.length === 2);
    assert.deepEqual(textsOf(failed.drafts), ['Gr'], 'the half answer stays');
    fails = false;
    const again = await chat.regenerate(message.id);
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    assert.notEqual(again.id, message.id);
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'hi!']);
    assert.deepEqual(chat.getSnapshot().drafts, []);
    stop();
  });

  it('after its first event keeps its half answer until another program stores the next message', async () => {
    const { service, chat, stop } = await openChat(async function* () {
      yield { author: 'guide', partial: true, content: says('Gr') };
      throw new Error('no model');
    });
    await chat.ask(asks('hi'));
    await snapshotOf(chat, hasStatus('failed'));
    const { drafts } = await snapshotOf(chat, ({ events }) => events.length === 2);
    assert.deepEqual(textsOf(drafts), ['Gr']);
    const session = (await service.getSession(KEY))!;
    const events = [
      { author: 'user', invocationId: 'next', content: asks('you') },
      { author: 'guide', invocationId: 'next', content: says('me') },
    ];
    await service.appendEvents({ session, events });
    const shown = await snapshotOf(chat, ({ events }) => events.length === 4);
    assert.equal(shown.run, undefined);
    assert.deepEqual(shown.drafts, []);
    stop();
  });

  it('keeps the messages after it until the next one is asked', async () => {
    let calls = 0;
    const go = gate();
    const agent: RunAgent = async function* ({ message }) {
      calls += 1;
      if (calls === 1) {
        await go.opened;
        throw new Error('no model');
      }
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { chat, stop } = await openChat(agent);
    await chat.ask(asks('1'));
    const second = chat.ask(asks('2'));
    const third = chat.ask(asks('3'));
    const [, , thirdShown] = chat.getSnapshot().events;
    go.open();
    await snapshotOf(chat, hasStatus('failed'));
    assert.equal(calls, 1);
    assert.deepEqual(textsOf(chat.getSnapshot().events).filter(Boolean), ['1', '2', '3']);
    const refused = assert.rejects(third, failsWith('aborted'));
    await chat.discard(thirdShown!.id);
    await refused;
    await chat.ask(asks('4'));
    await second;
    await snapshotOf(chat, ({ events, run }) => events.length === 6 && run === undefined);
    const texts = textsOf(chat.getSnapshot().events);
    assert.deepEqual(texts, ['1', undefined, '2', '2!', '4', '4!']);
    stop();
  });
});

it('A queue is shown as paused also after another program has had a message answered', async () => {
  const go = gate();
  const agent: RunAgent = async function* ({ message }) {
    await go.opened;
    if (textsOf([message])[0] === '1') throw new Error('no model');
    yield { author: 'guide', content: says('late') };
  };
  const { service, chat, stop } = await openChat(agent);
  await chat.ask(asks('1'));
  const second = chat.ask(asks('2'));
  go.open();
  await snapshotOf(chat, hasStatus('failed'));
  const session = (await service.getSession(KEY))!;
  const other = { author: 'user', invocationId: 'theirs', content: asks('theirs') };
  await service.appendEvent({ session, event: { ...other } });
  const unanswered = await snapshotOf(chat, hasStatus('unanswered'));
  assert.equal(unanswered.run?.isPaused, true);
  await service.appendEvent({
    session,
    event: { ...other, author: 'guide', content: says('yes') },
  });
  const answered = await snapshotOf(chat, hasStatus('queued'));
  const [waiting] = Object.keys(answered.unsent);
  assert.deepEqual(answered.run, { status: 'queued', messageId: waiting, isPaused: true });
  const refused = assert.rejects(second, failsWith('aborted'));
  await chat.discard(waiting!);
  await refused;
  stop();
});

describe('A message without an answer', () => {
  it('is unanswered when nothing runs, after a reload for example', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const content = asks('hi');
    await service.appendEvent({
      session,
      event: { id: 'm', invocationId: 'i', author: 'user', content },
    });
    const { chat, stop } = await openChat(echo, { service });
    assert.deepEqual(chat.getSnapshot().run, { status: 'unanswered', messageId: 'm' });
    await chat.regenerate('m');
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    stop();
  });
});
