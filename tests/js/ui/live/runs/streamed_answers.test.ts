// Pages whose message is taken by another process than the one that has their feed, without a channel between the two: the
// answer to the message is a stream with the reports of its run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, type SessionService } from '../../../../../js/index.js';
import type { LiveSessionSnapshot, RunAgent } from '../../../../../js/ui/live/index.js';
import { coreOf } from '../../../../../js/core/core_of.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, gate, says, textsOf } from './agents.js';
import { scripted, ServedAgent } from './served.js';

/** What a proxy has passed on. */
interface Proxy {
  readonly fetch: typeof fetch;
  /** The types of the answers to messages. */
  readonly types: (string | null)[];
  /** Cuts the streams of answers. */
  cut(): void;
}

/**
 * Sends feeds and cancels to the first process, messages to the second one, and other requests to one after the other.
 *
 * @param mayFeed a feed waits for it
 */
function proxyTo(origins: readonly [string, string], mayFeed?: Promise<void>): Proxy {
  const types: (string | null)[] = [];
  const cuts: AbortController[] = [];
  let next = 0;
  const proxy = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input));
    const isFeed = pathname.endsWith('/changes') && !pathname.includes('/sessions/');
    const isMessage = init.method === 'POST' && /\/(events|rewind)$/.test(pathname);
    const isCancel = init.method === 'DELETE';
    const at = isFeed || isCancel ? 0 : isMessage ? 1 : (next += 1) % 2;
    const url = origins[at] + pathname + search;
    if (isFeed) await mayFeed;
    if (!isMessage) return fetch(url, init);
    const cut = new AbortController();
    cuts.push(cut);
    const signal = AbortSignal.any([cut.signal, ...(init.signal ? [init.signal] : [])]);
    const response = await fetch(url, { ...init, signal });
    types.push(response.headers.get('content-type'));
    return response;
  };
  const cut = (): void => cuts.forEach((each) => each.abort());
  return { fetch: proxy, types, cut };
}

/** How a page is opened over a proxy. */
type Open = (served: ServedAgent, proxy: Proxy) => SessionService;

/** Waits for the first report of the feed: before it no message asks for a stream. */
function feedOf(service: SessionService): Promise<void> {
  return new Promise((done) => {
    const stop = coreOf(service)!.serverAgent!.follow(KEY, (_, isKnown) => {
      if (!isKnown) return;
      queueMicrotask(() => stop());
      done();
    });
  });
}

/** Two processes over one storage, and a page over a proxy in front of them. */
async function serveTwo(open: Open, agent: RunAgent, mayFeed?: Promise<void>) {
  const options = { processes: 'many', maxRunMs: 60_000 } as const;
  const one = await new ServedAgent(agent).open(agent, options);
  const other = await new ServedAgent(agent, one.service).open(agent, options);
  await one.service.createSession(KEY);
  const proxy = proxyTo([one.origin, other.origin], mayFeed);
  const service = open(one, proxy);
  const page = await one.page(service);
  if (mayFeed === undefined) await feedOf(service);
  const end = async (): Promise<void> => {
    await one.end();
    await other.end();
  };
  return { one, other, proxy, ...page, end };
}

const SERVICES: Readonly<Record<string, Open>> = {
  'a remote service': (served, proxy) => served.remote(proxy.fetch),
  'a cache': (served, proxy) => served.cache(undefined, served.remote(proxy.fetch)),
};

/** The statuses that a page has shown, each once. */
const statusesOf = (shown: readonly LiveSessionSnapshot[]) => [
  ...new Set(
    shown.map(({ run }) => (run?.isElsewhere === true ? 'elsewhere' : (run?.status ?? 'none'))),
  ),
];
/** Whether each answer in the shown texts only grows. */
const growsOnly = (texts: readonly string[]): boolean =>
  texts.every((text, at) => {
    const before = at === 0 ? [] : texts[at - 1]!.split('|');
    const answers = text.split('|');
    return before.every((shown, place) => answers[place]?.startsWith(shown));
  });
const hasDrafts = (text: string) => (snapshot: LiveSessionSnapshot) =>
  textsOf(snapshot.drafts).join() === text;
const hasStatus = (status: string) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run?.status === status;
const isIdleWith = (count: number) => (snapshot: LiveSessionSnapshot) =>
  snapshot.run === undefined && snapshot.events.length === count;

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`A page over ${name} whose message another process than that of its feed takes`, () => {
    it('shows running, the drafts and the end from the answer to its message', async () => {
      const { run, say, answer, asked } = scripted();
      const { chat, shown, texts, proxy, end } = await serveTwo(open, run);
      const { id } = await chat.ask(asks('hi'));
      say('Green');
      const { run: running } = await snapshotOf(chat, hasDrafts('Green'));
      assert.deepEqual(running, { status: 'running', messageId: id });
      say(' tea');
      await snapshotOf(chat, hasDrafts('Green tea'));
      answer(' for you');
      await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'Green tea for you']);
      assert.ok(growsOnly(texts), JSON.stringify(texts));
      assert.deepEqual(statusesOf(shown), ['none', 'queued', 'running']);
      assert.deepEqual([proxy.types, asked], [['text/event-stream'], ['hi']]);
      await end();
    });

    it('gets JSON before its feed is open, and shows the answer once that is stored', async () => {
      const { run, answer } = scripted();
      const { open: letFeed, opened } = gate();
      const { chat, proxy, end } = await serveTwo(open, run, opened);
      await chat.ask(asks('hi'));
      letFeed();
      answer('Green tea');
      await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(proxy.types, ['application/json']);
      await end();
    });

    it('has messages answered one after another, each once', async () => {
      const { run, answer, asked } = scripted();
      const { chat, shown, texts, end } = await serveTwo(open, run);
      const asking = ['1', '2', '3'].map((text) => chat.ask(asks(text)));
      for (const text of ['one', 'two', 'three']) answer(text, ' more');
      await Promise.all(asking);
      await snapshotOf(chat, isIdleWith(6));
      assert.deepEqual(asked, ['1', '2', '3']);
      assert.deepEqual(textsOf(chat.getSnapshot().events), [
        ...['1', 'one more', '2', 'two more', '3', 'three more'],
      ]);
      assert.ok(growsOnly(texts), JSON.stringify(texts));
      assert.equal(statusesOf(shown).includes('unanswered'), false);
      await end();
    });

    it('shows it as running elsewhere once the stream is cut, and then the answer', async () => {
      const { run, say, answer, asked } = scripted();
      const { chat, shown, proxy, end } = await serveTwo(open, run);
      const { id } = await chat.ask(asks('hi'));
      say('Green');
      await snapshotOf(chat, hasDrafts('Green'));
      proxy.cut();
      const { run: cut } = await snapshotOf(chat, ({ run }) => run?.isElsewhere === true);
      assert.deepEqual(cut, { status: 'running', messageId: id, isElsewhere: true });
      answer(' tea');
      await snapshotOf(chat, isIdleWith(2));
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['hi', 'Green tea']);
      assert.deepEqual(statusesOf(shown), ['none', 'queued', 'running', 'elsewhere']);
      assert.deepEqual(asked, ['hi']);
      await end();
    });

    it('shows that the agent has failed, with what it streamed', async () => {
      const { open: fail, opened } = gate();
      const failing: RunAgent = async function* () {
        yield { author: 'guide', partial: true, content: says('Gr') };
        await opened;
        throw new Error('no model');
      };
      const { chat, end } = await serveTwo(open, failing);
      await chat.ask(asks('hi'));
      await snapshotOf(chat, hasDrafts('Gr'));
      fail();
      const { run, drafts } = await snapshotOf(chat, hasStatus('failed'));
      assert.ok(isSessionError(run?.error, 'run_failed'));
      assert.deepEqual(textsOf(drafts), ['Gr']);
      await end();
    });

    it('stops it by any process, and is told nothing more of it', async () => {
      const { run, say, answer, asked } = scripted();
      const { chat, shown, end } = await serveTwo(open, run);
      const { id } = await chat.ask(asks('hi'));
      say('Gr');
      await snapshotOf(chat, hasDrafts('Gr'));
      await chat.cancel();
      const { run: cancelled } = await snapshotOf(chat, hasStatus('cancelled'));
      assert.deepEqual(cancelled, { status: 'cancelled', messageId: id });
      const from = shown.length;
      say('een');
      answer(' tea');
      await chat.ask(asks('again'));
      answer('Black');
      await snapshotOf(chat, ({ events }) => textsOf(events).includes('Black'));
      await snapshotOf(chat, ({ run }) => run === undefined);
      const later = shown.slice(from).filter(({ run }) => run?.messageId === id);
      assert.deepEqual(
        later.filter(({ run }) => run?.status === 'running'),
        [],
      );
      assert.deepEqual(asked, ['hi', 'again']);
      assert.equal(textsOf(chat.getSnapshot().events).includes('Green tea'), false);
      await end();
    });

    it('regenerates an answer, and shows the drafts of the new one', async () => {
      const { run, say, answer } = scripted();
      const { chat, proxy, end } = await serveTwo(open, run);
      const { id } = await chat.ask(asks('hi'));
      answer('Green');
      await snapshotOf(chat, isIdleWith(2));
      const again = chat.regenerate(id);
      say('Bla');
      await snapshotOf(chat, hasDrafts('Bla'));
      answer('ck');
      await again;
      await snapshotOf(chat, ({ events, run }) => !run && textsOf(events).includes('Black'));
      assert.deepEqual(proxy.types, ['text/event-stream', 'text/event-stream']);
      await end();
    });

    it('leaves the stream when it is closed, and the run goes on', async () => {
      const { run, say, answer } = scripted();
      const { one, chat, stop, end } = await serveTwo(open, run);
      await chat.ask(asks('hi'));
      say('Green');
      await snapshotOf(chat, hasDrafts('Green'));
      stop();
      answer(' tea');
      for (let events: unknown[] = []; events.length < 2;) {
        events = (await one.service.getSession(KEY))!.events;
        await new Promise(setImmediate);
      }
      await end();
    });
  });
}

describe('A page whose message the process of its feed takes', () => {
  it('gets the answer as JSON, and the reports from its feed', async () => {
    const { run, say, answer } = scripted();
    const served = await new ServedAgent(run).open();
    const proxy = proxyTo([served.origin, served.origin], Promise.resolve());
    await served.service.createSession(KEY);
    const { chat } = await served.page(served.remote(proxy.fetch));
    for (const [at, text] of ['1', '2'].entries()) {
      await chat.ask(asks(text));
      say('Green');
      await snapshotOf(chat, hasDrafts('Green'));
      answer();
      await snapshotOf(chat, isIdleWith(2 * (at + 1)));
    }
    assert.equal(proxy.types.at(-1), 'application/json');
    await served.end();
  });
});
