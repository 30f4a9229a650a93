// A page whose agent runs on a real server, over a remote service and over a cache.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, type SessionService } from '../../../../../js/index.js';
import { MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import type { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import {
  liveSession,
  type LiveSessionSnapshot,
  type RunAgent,
} from '../../../../../js/ui/live/index.js';
import { StoreRuns } from '../../../../../js/ui/live/store_runs.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, says, textsOf } from './agents.js';
import { growsOnly, scripted, ServedAgent } from './served.js';

const hasStatus = (status: string | undefined) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run?.status === status;
const hasDrafts = (text: string) => (snapshot: LiveSessionSnapshot) =>
  textsOf(snapshot.drafts).join() === text;
const isIdleWith = (count: number) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run === undefined && snapshot.events.length === count;

/** A tool that asks for a confirmation, and then tells what it got. */
const confirming: RunAgent = async function* ({ message }) {
  const [part] = message.content?.parts ?? [];
  const answer = part?.functionResponse?.response;
  if (answer !== undefined) {
    yield { author: 'guide', content: says(JSON.stringify(answer)) };
    return;
  }
  const args = { originalFunctionCall: { name: 'buy', args: { cups: 2 } } };
  const functionCall = { id: 'c1', name: 'adk_request_confirmation', args };
  yield {
    author: 'guide',
    content: { role: 'model', parts: [{ functionCall }] },
    longRunningToolIds: ['c1'],
  };
};

const SERVICES = {
  'a remote service': (served: ServedAgent) => served.remote(),
  'a cache': (served: ServedAgent) => served.cache(),
};

/** A page that has asked, and shows the first draft of the answer. */
async function streaming(open: (served: ServedAgent) => SessionService, text = 'hi') {
  const script = scripted();
  const served = await new ServedAgent(script.run).open();
  const { chat, texts } = await served.page(open(served));
  const message = await chat.ask(asks(text));
  script.say('Gre');
  await snapshotOf(chat, hasDrafts('Gre'));
  return { ...script, served, chat, texts, message };
}

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`A page over ${name} whose server has the agent`, () => {
    it('shows the message, the drafts and the answer; shown text never gets shorter', async () => {
      const { run, say, answer } = scripted();
      const served = await new ServedAgent(run).open();
      const { chat, texts } = await served.page(open(served));
      const message = await chat.ask(asks('hi'));
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi']);
      say('Green');
      const { run: running } = await snapshotOf(chat, hasDrafts('Green'));
      assert.deepEqual(running, { status: 'running', messageId: message.id });
      say(' tea');
      await snapshotOf(chat, hasDrafts('Green tea'));
      answer(' for you');
      const { drafts } = await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(drafts, []);
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'Green tea for you']);
      assert.ok(growsOnly(texts), JSON.stringify(texts));
      const stored = await served.service.getSession(KEY);
      assert.deepEqual(
        stored?.events.map(({ invocationId }) => invocationId),
        [message.invocationId, message.invocationId],
      );
      await served.end();
    });

    it('answers messages that come during a run one after another, without a shorter text', async () => {
      const { run, answer, asked } = scripted();
      const served = await new ServedAgent(run).open();
      const { chat, texts } = await served.page(open(served));
      const asking = ['1', '2', '3'].map((text) => chat.ask(asks(text)));
      await snapshotOf(chat, hasStatus('running'));
      answer('one', ' more');
      answer('two', ' more');
      answer('three', ' more');
      await Promise.all(asking);
      await snapshotOf(chat, isIdleWith(6));
      assert.deepEqual(asked, ['1', '2', '3']);
      assert.deepEqual(textsOf(chat.getSnapshot().events), [
        ...['1', 'one more', '2', 'two more', '3', 'three more'],
      ]);
      assert.ok(growsOnly(texts), JSON.stringify(texts));
      await served.end();
    });

    it('cancels the run, and keeps what was streamed', async () => {
      const { served, chat, texts, message } = await streaming(open);
      await chat.cancel();
      const { run: cancelled } = await snapshotOf(
        chat,
        ({ run, events }) => run?.status === 'cancelled' && events.length === 3,
      );
      assert.deepEqual(cancelled, { status: 'cancelled', messageId: message.id });
      const { events, drafts } = chat.getSnapshot();
      assert.deepEqual(drafts, []);
      assert.deepEqual([events[1]?.content, events[1]?.interrupted], [says('Gre'), true]);
      assert.equal(events[2]?.errorCode, 'INVOCATION_ABORTED');
      assert.ok(growsOnly(texts.map((text) => text.replace(/\|$/, ''))), JSON.stringify(texts));
      await served.end();
    });

    it('edits a message during its run, and regenerates its answer', async () => {
      const { served, chat, message, answer, asked } = await streaming(open, 'green');
      const edited = await chat.edit(message.id, asks('black'));
      await snapshotOf(chat, ({ run }) => run?.status === 'running' && run.messageId === edited.id);
      answer('Black');
      await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['black', 'Black']);
      const again = await chat.regenerate(edited.id);
      answer('Blacker');
      await snapshotOf(
        chat,
        (snapshot) => isIdleWith(2)(snapshot) && snapshot.events[0]?.id === again.id,
      );
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['black', 'Blacker']);
      assert.deepEqual(asked, ['green', 'black', 'black']);
      await served.end();
    });

    it('shows a question, and answers it', async () => {
      const served = await new ServedAgent(confirming).open();
      const { chat } = await served.page(open(served));
      await chat.ask(asks('two cups'));
      const { questions, run } = await snapshotOf(
        chat,
        (snapshot) => snapshot.questions.length === 1 && snapshot.run === undefined,
      );
      assert.deepEqual(
        [questions[0]?.kind, questions[0]?.name, questions[0]?.args, run],
        ['confirmation', 'buy', { cups: 2 }, undefined],
      );
      await assert.rejects(chat.answer({ other: {} }), (error) =>
        isSessionError(error, 'invalid_argument'),
      );
      await chat.answer({ c1: { confirmed: true } });
      await snapshotOf(chat, isIdleWith(4));
      assert.deepEqual(textsOf(chat.getSnapshot().events).at(-1), '{"confirmed":true}');
      assert.deepEqual(chat.getSnapshot().questions, []);
      await served.end();
    });

    it('takes one of two answers that devices give at once, and shows the question as answered', async () => {
      const served = await new ServedAgent(confirming).open();
      const pages = [await served.page(open(served)), await served.page(open(served))];
      const chats = pages.map(({ chat }) => chat);
      await chats[0]!.ask(asks('two cups'));
      for (const chat of chats) await snapshotOf(chat, ({ questions }) => questions.length === 1);
      const answers = chats.map((chat) => chat.answer({ c1: { confirmed: true } }));
      await Promise.allSettled(answers);
      for (const chat of chats) await snapshotOf(chat, ({ questions }) => questions.length === 0);
      await snapshotOf(chats[0]!, ({ run, events }) => run === undefined && events.length >= 4);
      const stored = await served.service.getSession(KEY);
      assert.deepEqual(
        stored?.events.map(({ author }) => author),
        ['user', 'guide', 'user', 'guide'],
      );
      await served.end();
    });

    it('shows that its session was deleted during a run, of which nothing more is stored', async () => {
      const { served, chat, say } = await streaming(open);
      await served.remote().deleteSession(KEY);
      const gone = await snapshotOf(chat, ({ status }) => status === 'deleted');
      assert.deepEqual([gone.events, gone.drafts], [[], []]);
      say('en', undefined);
      assert.equal(await served.service.getSession(KEY), undefined);
      await served.end();
    });

    it('shows the run of another device, and can cancel it', async () => {
      const { served, chat, message, say } = await streaming(open);
      const { chat: other } = await served.page(open(served));
      const seen = await snapshotOf(other, hasDrafts('Gre'));
      assert.deepEqual(seen.run, { status: 'running', messageId: message.id });
      say('en');
      await snapshotOf(other, hasDrafts('Green'));
      await other.cancel();
      await snapshotOf(chat, hasStatus('cancelled'));
      await snapshotOf(other, hasStatus('cancelled'));
      await served.end();
    });

    it('shows no draft beside its event, also if the event was read first', async () => {
      const { run, say, answer } = scripted();
      const twice: RunAgent = async function* (context) {
        yield* run(context);
        yield* run(context);
      };
      const served = await new ServedAgent(twice).open();
      const { chat } = await served.page(open(served));
      await chat.ask(asks('hi'));
      // The whole event is there before the feed has told of its draft.
      answer('Green');
      say('Black');
      const { chat: joining } = await served.page(open(served));
      for (const page of [chat, joining]) {
        const hasBlack = ({ drafts }: LiveSessionSnapshot) => textsOf(drafts).includes('Black');
        await snapshotOf(page, hasBlack);
        const { events, drafts } = page.getSnapshot();
        assert.deepEqual([textsOf(events), textsOf(drafts)], [['hi', 'Green'], ['Black']]);
      }
      await served.end();
    });

    it('shows nothing of a run after its login has expired, and the run again after the next one', async () => {
      const { served, chat, message, say } = await streaming(open);
      served.isSignedIn = false;
      served.cutFeeds();
      const { drafts, run: unknown } = await snapshotOf(chat, hasStatus(undefined));
      assert.deepEqual([drafts, unknown], [[], undefined]);
      say('en');
      served.isSignedIn = true;
      const { chat: later } = await served.page(open(served));
      const { run: going } = await snapshotOf(later, hasDrafts('Green'));
      assert.deepEqual(going, { status: 'running', messageId: message.id });
      await chat.reload();
      await snapshotOf(chat, hasDrafts('Green'));
      await served.end();
    });

    it('shows why the run has failed, also to whoever comes later', async () => {
      const failing: RunAgent = async function* () {
        yield { author: 'guide', partial: true, content: says('Gre') };
        throw new Error('the key sk-1 is wrong');
      };
      const served = await new ServedAgent(failing).open();
      const { chat } = await served.page(open(served));
      await chat.ask(asks('hi'));
      for (const page of [chat, (await served.page(open(served))).chat]) {
        const { run } = await snapshotOf(page, hasStatus('failed'));
        assert.ok(isSessionError(run?.error, 'run_failed'));
        assert.equal(run.error.message, 'The agent failed.');
      }
      await served.end();
    });

    it('shows the message as unanswered after the server was killed, and has it answered again', async () => {
      const { served, chat, message } = await streaming(open);
      await served.kill();
      const { run: next, answer } = scripted();
      await served.open(next);
      const left = await snapshotOf(chat, hasStatus('unanswered'));
      assert.equal(left.run?.messageId, message.id);
      await chat.regenerate(message.id);
      answer('Green');
      await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'Green']);
      await served.end();
    });

    it('refuses a message without a part, and one that the server would not take, before it is sent', async () => {
      const { run, asked } = scripted();
      const served = await new ServedAgent(run).open(run, { maxBodyBytes: 2000 });
      const service = open(served);
      const { chat } = await served.page(service);
      await snapshotOf(chat, ({ status }) => status !== 'loading');
      await service.createSession(KEY);
      for (const content of [{ role: 'user' }, { parts: [] }, { parts: ['hi' as never] }]) {
        const isRefused = (error: unknown) => isSessionError(error, 'invalid_argument');
        await assert.rejects(chat.ask(content), isRefused);
        const session = (await service.getSession(KEY))!;
        const appending = service.appendEvent({
          session,
          event: { author: 'user', invocationId: 'i', content },
          run: {},
        });
        await assert.rejects(appending, isRefused);
      }
      const isTooLarge = (error: unknown) =>
        isSessionError(error, 'remote') &&
        error.status === 413 &&
        /too large: it has 2\d\d\d bytes, and the server takes 2000/.test(error.message);
      const large = asks('x'.repeat(2000));
      await assert.rejects(chat.ask(large), isTooLarge);
      const session = (await service.getSession(KEY))!;
      const event = { author: 'user', invocationId: 'i', content: large };
      await assert.rejects(service.appendEvent({ session, event, run: {} }), isTooLarge);
      assert.deepEqual((await service.getSession(KEY))?.events, []);
      assert.deepEqual(asked, []);
      await served.end();
    });

    it('refuses to ask if the server has no agent, and still edits', async () => {
      const served = await new ServedAgent(undefined).open();
      const service = open(served);
      const { chat } = await served.page(service);
      const message = await chat.send({ author: 'user', content: asks('hi') });
      const isRefused = (error: unknown): boolean =>
        isSessionError(error, 'unsupported') &&
        error.message.includes('liveSession the option run') &&
        error.message.includes('sessionHandler');
      await assert.rejects(chat.ask(asks('hi')), isRefused);
      await assert.rejects(chat.answer({ c1: {} }), isRefused);
      await assert.rejects(chat.cancel(), isRefused);
      await chat.edit(message.id, asks('black'));
      await snapshotOf(chat, ({ events }) => textsOf(events)[0] === 'black');
      assert.equal(chat.getSnapshot().run, undefined);
      await served.end();
    });
  });
}

describe('The runs of a page without an agent', () => {
  it('are loaded if its server has one, and only then', async () => {
    for (const run of [undefined, scripted().run]) {
      const served = await new ServedAgent(run).open();
      for (const service of [served.remote(), served.cache(), served.service]) {
        const runs = new StoreRuns(KEY, () => undefined);
        const watch = new AbortController();
        await runs.follow(service, watch.signal);
        assert.equal(runs.loaded !== undefined, run !== undefined && service !== served.service);
        watch.abort();
      }
      await served.end();
    }
  });
});

describe('A page without a subscriber, whose server has no agent', () => {
  it('edits and regenerates without a change feed', async () => {
    const served = await new ServedAgent(undefined).open();
    const session = await served.service.createSession(KEY);
    const message = { author: 'user', invocationId: 'i', content: asks('hi') };
    const { id } = await served.service.appendEvent({ session, event: message });
    const paths: string[] = [];
    const open = (): RemoteSessionService =>
      served.remote((input, init) => {
        paths.push(new URL(input as string).pathname);
        return fetch(input, init);
      });
    const again = await liveSession(open(), KEY).regenerate(id);
    await liveSession(open(), KEY).edit(again.id, asks('black'));
    assert.ok(paths.length > 0);
    assert.deepEqual(
      paths.filter((path) => path.endsWith('/changes')),
      [],
    );
    await served.end();
  });
});

describe('The queue of a page whose server has the agent', () => {
  it('holds the rest of the queue after a cancelled run, until the next call', async () => {
    const { run, answer, asked } = scripted();
    const served = await new ServedAgent(run).open();
    const { chat } = await served.page(served.remote());
    await chat.ask(asks('1'));
    const second = chat.ask(asks('2'));
    const third = chat.ask(asks('3'));
    const [, shown2, shown3] = chat.getSnapshot().events;
    await chat.cancel();
    await snapshotOf(chat, hasStatus('cancelled'));
    assert.deepEqual(asked, ['1']);
    const refused = assert.rejects(second, (error) => isSessionError(error, 'aborted'));
    await chat.discard(shown2!.id);
    await refused;
    await chat.retry(shown3!.id);
    answer('three');
    await third;
    await snapshotOf(chat, ({ events, run }) => run === undefined && events.length === 4);
    assert.deepEqual(asked, ['1', '3']);
    await served.end();
  });

  it('sends a message again that came while the server ran as many agents as it may', async () => {
    const { run, say, answer, asked } = scripted();
    const served = await new ServedAgent(run).open(run, { maxRuns: 1 });
    const { chat } = await served.page(served.remote());
    const other = liveSession(served.remote(), { ...KEY, sessionId: 's2' });
    await other.ask(asks('first'));
    const second = chat.ask(asks('second'));
    await snapshotOf(chat, hasStatus('queued'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.deepEqual([asked, chat.getSnapshot().run?.status], [['first'], 'queued']);
    answer('one');
    // The server asks for a pause of one second.
    await second;
    say('two', undefined);
    await snapshotOf(chat, isIdleWith(2));
    assert.deepEqual(asked, ['first', 'second']);
    await served.end();
  });

  it('asks without a subscriber', async () => {
    const { run, answer } = scripted();
    const served = await new ServedAgent(run).open();
    const { chat, stop } = await served.page(served.remote());
    stop();
    answer('Green');
    await chat.ask(asks('hi'));
    const { chat: later } = await served.page(served.remote());
    await snapshotOf(later, isIdleWith(2));
    await served.end();
  });
});

describe('A cache whose server has the agent', () => {
  it('shows messages as queued that were asked offline, and has them answered when the server is back', async () => {
    const { run, answer, asked } = scripted();
    const served = await new ServedAgent(run).open();
    const { chat, texts } = await served.page(served.cache());
    answer('one');
    await chat.ask(asks('1'));
    await snapshotOf(chat, isIdleWith(2));
    await served.kill();
    const second = await chat.ask(asks('2'));
    const { run: waiting } = await snapshotOf(chat, hasStatus('queued'));
    assert.equal(waiting?.messageId, second.id);
    const third = await chat.ask(asks('3'));
    const fourth = await chat.ask(asks('4'));
    await chat.cancel(third.id);
    await chat.discard(fourth.id);
    assert.deepEqual(textsOf(chat.getSnapshot().events), ['1', 'one', '2']);
    await served.open();
    answer('two');
    await snapshotOf(chat, isIdleWith(4));
    assert.deepEqual(asked, ['1', '2']);
    assert.ok(growsOnly(texts), JSON.stringify(texts));
    await served.end();
  });

  it('shows the run of another tab over the same data', async () => {
    const { run, say, answer } = scripted();
    const served = await new ServedAgent(run).open();
    const local = new MemoryLocalStore();
    const { chat } = await served.page(served.cache(local));
    const { chat: other, texts } = await served.page(served.cache(local));
    await chat.ask(asks('hi'));
    say('Gre');
    await snapshotOf(other, hasDrafts('Gre'));
    answer('en');
    await snapshotOf(other, isIdleWith(2));
    assert.ok(growsOnly(texts), JSON.stringify(texts));
    await served.end();
  });

  it('opens the feeds of all tabs again after the next login', async () => {
    const { run, say } = scripted();
    const served = await new ServedAgent(run).open();
    const local = new MemoryLocalStore();
    const caches = [served.cache(local), served.cache(local)];
    const pages = [await served.page(caches[0]!), await served.page(caches[1]!)];
    await pages[0]!.chat.ask(asks('hi'));
    say('Gre');
    for (const { chat } of pages) await snapshotOf(chat, hasDrafts('Gre'));
    served.isSignedIn = false;
    served.cutFeeds();
    for (const { chat } of pages) await snapshotOf(chat, hasDrafts(''));
    served.isSignedIn = true;
    say('en');
    await caches[0]!.getSession({ ...KEY, config: { reads: 'network-first' } });
    for (const { chat } of pages) await snapshotOf(chat, hasDrafts('Green'));
    await served.end();
  });
});
