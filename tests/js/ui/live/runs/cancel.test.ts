import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { mockedTimeOf } from '../../../mocked_time.js';
import { InMemorySessionService, isSessionError } from '../../../../../js/index.js';
import { type LiveSessionSnapshot, type RunAgent } from '../../../../../js/ui/live/index.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, echo, gate, openChat, says, storesMessage, textsOf } from './agents.js';
import { failsWith } from '../../../fails_with.js';

const hasStatus = (status: string) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run?.status === status;

/** Streams a thought and a text, calls a tool, and then waits for its signal. */
const streaming: RunAgent = async function* ({ signal }) {
  const call = { functionCall: { id: 'c1', name: 'look', args: {} } };
  yield { author: 'guide', content: { role: 'model', parts: [{ text: 'Let me look.' }, call] } };
  yield {
    author: 'guide',
    partial: true,
    content: { role: 'model', parts: [{ text: 'Hm', thought: true }] },
  };
  yield { author: 'guide', partial: true, content: says('Gre') };
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
};

describe('cancel', () => {
  it('makes everything that notices it throw `aborted`', async () => {
    const thrown: unknown[] = [];
    const agent: RunAgent = async function* ({ signal, session }) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      try {
        signal.throwIfAborted();
      } catch (error) {
        thrown.push(error);
      }
      setTimeout(() => void session().catch((error: unknown) => thrown.push(error)), 10);
      yield { author: 'guide', content: says('Late') };
    };
    const { chat, stop } = await openChat(agent);
    await chat.ask(asks('hi'));
    await snapshotOf(chat, hasStatus('running'));
    await chat.cancel();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(
      thrown.map((error) => isSessionError(error) && error.code),
      ['aborted', 'aborted'],
    );
    stop();
  });

  it('keeps what was streamed as an interrupted answer, and closes the calls', async () => {
    const { service, chat, stop } = await openChat(streaming);
    const message = await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ drafts }) => textsOf(drafts).join('').includes('Gre'));
    await chat.cancel();
    const { events, drafts, run } = chat.getSnapshot();
    assert.deepEqual(run, { status: 'cancelled', messageId: message.id });
    assert.deepEqual(drafts, []);
    const [, , kept, endEvent] = events;
    assert.deepEqual(kept?.content, says('Gre'));
    assert.equal(kept.interrupted, true);
    assert.equal(endEvent?.errorCode, 'INVOCATION_ABORTED');
    assert.equal(endEvent.content?.parts?.[0]?.functionResponse?.id, 'c1');
    assert.equal(events.length, 4);
    const read = (await service.getSession(KEY))?.events ?? [];
    assert.ok(read.every(({ invocationId }) => invocationId === message.invocationId));
    stop();
    const { chat: later, stop: stopLater } = await openChat(echo, { service });
    assert.equal(later.getSnapshot().run?.status, 'cancelled', 'also after a reload');
    stopLater();
  });

  it('ends a run that ignores its signal within two seconds, and stores nothing of it later', async () => {
    const tookMs = await mockedTimeOf(async () => {
      const go = gate();
      const agent: RunAgent = async function* () {
        await go.opened;
        yield { author: 'guide', content: says('Late') };
      };
      const { service, chat, stop } = await openChat(agent);
      await chat.ask(asks('hi'));
      await chat.cancel();
      go.open();
      await chat.reload();
      stop();
      const events = (await service.getSession(KEY))?.events ?? [];
      assert.deepEqual(textsOf(events), ['hi', undefined]);
      assert.equal(events[1]?.errorCode, 'INVOCATION_ABORTED');
    });
    assert.ok(tookMs < 3000, `${tookMs} ms`);
  });

  it('removes the named message from the queue, and leaves the run', async () => {
    const go = gate();
    const agent: RunAgent = async function* ({ message }) {
      await go.opened;
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { chat, stop } = await openChat(agent);
    const first = chat.ask(asks('1'));
    await snapshotOf(chat, hasStatus('running'));
    const second = chat.ask(asks('2'));
    const refused = assert.rejects(second, failsWith('aborted'));
    const [, shown] = chat.getSnapshot().events;
    await chat.cancel(shown?.id);
    await refused;
    assert.deepEqual(Object.keys(chat.getSnapshot().unsent), []);
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['1']);
    go.open();
    await first;
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    stop();
  });

  it('before the message is stored gives it up, with the session that was created for it', async () => {
    const begun = gate();
    const agent = storesMessage(async function* ({ signal }) {
      begun.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield* echo({} as Parameters<RunAgent>[0]);
    });
    const { service, chat, stop } = await openChat(agent);
    const refused = assert.rejects(chat.ask(asks('hi')), failsWith('aborted'));
    await begun.opened;
    await chat.cancel();
    await refused;
    assert.deepEqual(chat.getSnapshot().events, []);
    assert.deepEqual(Object.keys(chat.getSnapshot().unsent), []);
    assert.equal(await service.getSession(KEY), undefined);
    assert.equal(chat.getSnapshot().status, 'missing');
    stop();
  });

  it('stores the end event of a message that nobody answers, once', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const content = asks('hi');
    await service.appendEvent({
      session,
      event: { id: 'm', invocationId: 'i', author: 'user', content },
    });
    const { chat, stop } = await openChat(echo, { service });
    await Promise.all([chat.cancel(), chat.cancel('m')]);
    assert.equal(chat.getSnapshot().run?.status, 'cancelled');
    assert.equal(chat.getSnapshot().events.length, 2);
    stop();
  });

  it('does nothing without a run', async () => {
    const { service, chat, stop } = await openChat(echo);
    await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    await chat.cancel();
    assert.equal((await service.getSession(KEY))?.events.length, 2);
    stop();
  });

  it('happens when the session is deleted, and then stores no end event', async () => {
    const aborted = gate();
    const agent: RunAgent = async function* ({ signal }) {
      signal.addEventListener('abort', aborted.open);
      await aborted.opened;
      yield { author: 'guide', content: says('Late') };
    };
    const { service, chat, stop } = await openChat(agent);
    await chat.ask(asks('hi'));
    await chat.remove();
    await aborted.opened;
    await snapshotOf(chat, ({ run }) => run?.status !== 'running');
    assert.equal(await service.getSession(KEY), undefined);
    assert.equal(chat.getSnapshot().status, 'deleted');
    stop();
  });
});

describe('During a run', () => {
  it('edit cancels it, and answers the new message', async () => {
    const agent: RunAgent = (context) =>
      context.message.content?.parts?.[0]?.text === 'black?' ? echo(context) : streaming(context);
    const { service, chat, stop } = await openChat(agent);
    const message = await chat.ask(asks('green?'));
    await snapshotOf(chat, ({ drafts }) => drafts.length > 0);
    const edited = await chat.edit(message.id, asks('black?'));
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    const { events, drafts } = chat.getSnapshot();
    assert.deepEqual(textsOf(events), ['black?', 'black?!']);
    assert.deepEqual(drafts, []);
    assert.equal(events[0]?.id, edited.id);
    assert.equal(events[1]?.invocationId, edited.invocationId);
    const [place] = await chat.branches();
    assert.equal(place?.alternatives.length, 2);
    await chat.switchBranch(place.alternatives[0]!.branch!);
    assert.equal(chat.getSnapshot().run?.status, 'cancelled');
    stop();
    assert.equal((await service.getSession(KEY))?.events.at(-1)?.author, 'user');
  });

  it('a rewind that is refused changes nothing, and the run ends by itself', async () => {
    const go = gate();
    const agent: RunAgent = async function* ({ message, signal }) {
      yield { author: 'guide', partial: true, content: says('Gre') };
      await go.opened;
      signal.throwIfAborted();
      yield* echo({ message } as Parameters<RunAgent>[0]);
    };
    const { service, chat, stop } = await openChat(agent);
    const message = await chat.ask(asks('green?'));
    await snapshotOf(chat, ({ drafts }) => drafts.length > 0);
    for (const refused of [
      () => chat.edit('none', asks('black?')),
      () => chat.regenerate('none'),
      () => chat.switchBranch('none'),
    ]) {
      await assert.rejects(refused(), failsWith('not_found'));
      const { run, drafts } = chat.getSnapshot();
      assert.deepEqual(run, { status: 'running', messageId: message.id });
      assert.deepEqual(textsOf(drafts), ['Gre']);
    }
    assert.deepEqual(textsOf((await service.getSession(KEY))!.events), ['green?']);
    go.open();
    const { events } = await snapshotOf(
      chat,
      ({ events, run }) => events.length === 2 && run === undefined,
    );
    assert.deepEqual(textsOf(events), ['green?', 'green?!']);
    stop();
  });

  it('switchBranch cancels it', async () => {
    let isSlow = false;
    const agent: RunAgent = (context) => (isSlow ? streaming(context) : echo(context));
    const { chat, stop } = await openChat(agent);
    const first = await chat.ask(asks('green?'));
    await chat.regenerate(first.id);
    await snapshotOf(chat, ({ events, run }) => events.length === 2 && run === undefined);
    isSlow = true;
    await chat.ask(asks('more?'));
    await snapshotOf(chat, ({ drafts }) => drafts.length > 0);
    const [place] = await chat.branches();
    await chat.switchBranch(place!.alternatives[0]!.branch!);
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['green?', 'green?!']);
    assert.equal(chat.getSnapshot().run, undefined);
    stop();
  });

  it('a rewind of another program stops it at its next event', async () => {
    const { rewind } = await import('../../../../../js/core/history/index.js');
    const go = gate();
    const agent: RunAgent = async function* ({ message }) {
      yield* echo({ message } as Parameters<RunAgent>[0]);
      await go.opened;
      yield { author: 'guide', content: says('Late') };
    };
    const { service, chat, stop } = await openChat(agent);
    const { invocationId } = await chat.ask(asks('hi'));
    await snapshotOf(chat, ({ events }) => events.length === 2);
    await rewind(service, { ...KEY, before: { invocationId } });
    go.open();
    await snapshotOf(chat, ({ events, run }) => events.length === 0 && run === undefined);
    stop();
  });
});
