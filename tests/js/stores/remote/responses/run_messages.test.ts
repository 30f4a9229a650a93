// Pages and handler against frozen copies of the messages of a run: the append with `run`, its answer, and the feed. Of this
// version, of one that does not number the runs of a server, and of a later one that has members which this one does not know.
//
// `RECORD=1` replaces the file, for a new version of the protocol.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import {
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  RUN_HEADER,
} from '../../../../../js/stores/http/protocol.js';
import { liveSession, type RunAgent } from '../../../../../js/ui/live/index.js';
import { asks, says, textsOf } from '../../../ui/live/runs/agents.js';
import { snapshotOf } from '../../../ui/live/stores.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../fixture.js';

type Json = Record<string, unknown>;

/** The messages of one run. The ids that the page has made are `MESSAGE` and `INVOCATION`. */
interface RunMessages {
  readonly version: Json;
  readonly append: Json;
  readonly status: number;
  /** The header that names the run. */
  readonly run: string;
  readonly answer: Json;
  /** The events of the feed about runs. */
  readonly feed: readonly Json[];
}

const FEED = '/apps/shop/users/ada/changes';
const VERSION = '/version';
/** Takes the recorded append. */
const APPEND = '/apps/shop/users/ada/sessions/s1/events';
const file = new URL('run_messages_1.0.json', import.meta.url);

const ANSWER = { id: 'a1', author: 'guide', content: says('Green tea') };

/** Streams an answer. Its pauses are longer than a feed waits with what was added. */
const agent: RunAgent = async function* () {
  yield { id: 'p1', author: 'guide', partial: true, content: says('Green') };
  await new Promise((resolve) => setTimeout(resolve, 400));
  yield { ...ANSWER };
};

const newHandler = (service = new InMemorySessionService()) =>
  fetchFrom(handlerOn(service, { run: agent }));

const jsonOf = (text: unknown) => JSON.parse(text as string) as Json;

/** Reads the events of a feed about runs until one says that a run has ended. */
async function runEventsOf(feed: ReadableStream<Uint8Array>): Promise<Json[]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of feed) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split('\n').flatMap((line) => {
      const data = line.startsWith('data: {') ? jsonOf(line.slice('data: '.length)) : {};
      return data.type === 'run' || data.type === 'runs' ? [data] : [];
    });
    if (events.some(({ status }) => status === 'ended')) return events;
  }
  throw new Error('The feed has ended before the run.');
}

/** Records what a page and the handler send each other. */
async function record(): Promise<RunMessages> {
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  const send = newHandler(service);
  const recorded: { -readonly [Name in keyof RunMessages]?: RunMessages[Name] } = {};
  let feed: Promise<Json[]> | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await send(input, init);
    const path = (input as string).slice(URL_OF_SERVER.length);
    if (path === VERSION) recorded.version = (await response.clone().json()) as Json;
    if (path.startsWith(FEED)) {
      const [own, rest] = response.body!.tee();
      feed = runEventsOf(own);
      return new Response(rest, response);
    }
    const append = typeof init?.body === 'string' ? jsonOf(init.body) : {};
    if (append.run === undefined) return response;
    const { status, headers } = response;
    const answer = (await response.clone().json()) as Json;
    Object.assign(recorded, { append, status, answer, run: headers.get(RUN_HEADER) });
    return response;
  };
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
  const chat = liveSession(remote, KEY);
  const stop = chat.subscribe(() => undefined);
  await chat.load();
  const { id, invocationId } = await chat.ask(asks('Which tea?'));
  recorded.feed = await feed!;
  stop();
  await remote.close();
  const [start = ''] = recorded.run!.split(' ');
  const text = JSON.stringify(recorded, undefined, 2)
    .replaceAll(id, 'MESSAGE')
    .replaceAll(invocationId, 'INVOCATION')
    .replaceAll(start, 'START');
  return JSON.parse(text) as RunMessages;
}

if (process.env.RECORD !== undefined)
  writeFileSync(file, JSON.stringify(await record(), undefined, 2));
const messages = JSON.parse(readFileSync(file, 'utf8')) as RunMessages;

/** Changes all objects in a message, from the inside. */
function changed(value: unknown, change: (value: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, changed(member, change)]);
  return change(Object.fromEntries(members) as Json);
}

const added = (value: Json): Json => ({ ...value, addedLater: { by: 'the next version' } });
/** What the server's start and numbers of runs have added. */
const unmarked = ({ start, number, ...rest }: Json): Json =>
  (start ?? number) === undefined ? rest : rest;

/** A server that responds with the recorded messages. It stores what the recorded run has stored. */
async function replaying(change: (value: Json) => Json, hasHeader: boolean) {
  const service = new InMemorySessionService();
  const session = await service.createSession(KEY);
  const reads = newHandler(service);
  const told: ((events: readonly Json[], ids: (text: string) => string) => void)[] = [];
  const asked: Json[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const path = (input as string).slice(URL_OF_SERVER.length);
    if (path === VERSION) {
      const { headers } = await reads(input, init);
      return Response.json(changed(messages.version, change), { headers });
    }
    if (path.startsWith(FEED)) {
      const { headers } = await reads(input, init);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const write = (data: string) =>
            controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
          write(JSON.stringify({ type: 'resync' }));
          write(JSON.stringify(changed(messages.feed[0], change)));
          told.push((events, ids) => {
            for (const event of events) write(ids(JSON.stringify(changed(event, change))));
            write(JSON.stringify({ type: 'resync' }));
          });
        },
      });
      return new Response(body, { headers });
    }
    const append = typeof init?.body === 'string' ? jsonOf(init.body) : {};
    if (append.run === undefined) return reads(input, init);
    asked.push(append);
    const [message] = append.events as [{ id: string; invocationId: string }];
    const ids = (text: string) =>
      text.replaceAll('MESSAGE', message.id).replaceAll('INVOCATION', message.invocationId);
    const { invocationId } = message;
    await service.appendEvents({
      session,
      events: [message as never, { ...ANSWER, invocationId }],
    });
    setTimeout(() => {
      for (const tell of told) tell(messages.feed.slice(1), ids);
    });
    const { headers } = await reads(`${URL_OF_SERVER}${VERSION}`);
    if (hasHeader) headers.set(RUN_HEADER, messages.run);
    const text = ids(JSON.stringify(changed(messages.answer, change)));
    return new Response(text, { status: messages.status, headers });
  };
  return { fetch, asked };
}

const SERVERS = {
  'of this version': [(value: Json) => value, true],
  'that does not number its runs': [unmarked, false],
  'of a later version': [added, true],
} as const;

/** The names of the members of a message, which do not depend on what was asked. */
const membersOf = (value: unknown): string[] => Object.keys(value as Json).sort();

describe('The messages of a run', () => {
  for (const [server, [change, hasHeader]] of Object.entries(SERVERS)) {
    for (const isCached of [false, true]) {
      it(`of a server ${server} are understood by a page${isCached ? ' with a cache' : ''}`, async (t) => {
        const { fetch, asked } = await replaying(change, hasHeader);
        const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
        const options = { owner: 'ada', remote, local: new MemoryLocalStore() };
        const service = isCached ? new CachedSessionService(options) : remote;
        const chat = liveSession(service, KEY);
        const stop = chat.subscribe(() => undefined);
        t.after(async () => {
          stop();
          await service.close();
          await remote.close();
        });
        await chat.load();
        await chat.ask(asks('Which tea?'));
        const { events, drafts, unsent } = await snapshotOf(
          chat,
          ({ run, events }) => run === undefined && events.length === 2,
        );
        assert.deepEqual(textsOf(events), ['Which tea?', 'Green tea']);
        assert.deepEqual([drafts, { ...unsent }], [[], {}]);
        assert.equal(asked.length, 1);
        assert.deepEqual(membersOf(asked[0]), membersOf(messages.append));
      });
    }
  }

  for (const [version, change] of [
    ['this', (value: Json) => value],
    ['a later', added],
  ] as const) {
    it(`of a page of ${version} version are understood by this handler`, async () => {
      const service = new InMemorySessionService();
      await service.createSession(KEY);
      const send = newHandler(service);
      const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION, 'content-type': 'application/json' };
      const feed = await send(URL_OF_SERVER + FEED, { headers });
      const told = runEventsOf(feed.body!);
      // The members of `run` are the only ones of which a handler knows all.
      const { run, ...append } = messages.append;
      const body = JSON.stringify({ ...(changed(append, change) as Json), run });
      const response = await send(URL_OF_SERVER + APPEND, { method: 'POST', headers, body });
      assert.equal(response.status, messages.status);
      const [start = '', number] = response.headers.get(RUN_HEADER)!.split(' ');
      assert.equal(`START ${number}`, messages.run);
      assert.deepEqual(membersOf(await response.json()), membersOf(messages.answer));
      const events = await told;
      assert.equal(events[0]!.start, start);
      for (const at of [0, -1]) {
        assert.deepEqual(membersOf(events.at(at)), membersOf(messages.feed.at(at)));
      }
      const { id, invocationId } = (append.events as [Json])[0];
      const { messageId, invocationId: ofRun } = events.at(-1)!;
      assert.deepEqual([messageId, ofRun], [id, invocationId]);
      assert.deepEqual(textsOf((await service.getSession(KEY))!.events), [
        'Which tea?',
        'Green tea',
      ]);
    });
  }
});
