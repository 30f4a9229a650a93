// Pages and servers of two versions: one of them does not know the start of the server and the numbers of its runs.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { RUN_HEADER } from '../../../../js/stores/http/protocol.js';
import { liveSession, type RunAgent } from '../../../../js/ui/live/index.js';
import { asks, echo, says, textsOf } from '../../ui/live/runs/agents.js';
import { snapshotOf } from '../../ui/live/stores.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from './fixture.js';

/** An agent that streams, and takes a while. */
const slow: RunAgent = async function* ({ message }) {
  const [text] = textsOf([message]);
  yield { author: 'guide', partial: true, content: says(text!) };
  await new Promise((resolve) => setTimeout(resolve, 30));
  yield { author: 'guide', content: says(`${text}!`) };
};

/** Takes the members of the newer version out of the text of a feed. */
function withoutMarks(feed: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const text = new TextDecoder();
  const bytes = new TextEncoder();
  const strip = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const stripped = text.decode(chunk).replaceAll(/,"(start|number)":("[^"]*"|\d+)/g, '');
      controller.enqueue(bytes.encode(stripped));
    },
  });
  return feed.pipeThrough(strip);
}

/** Opens a service whose answers and feeds lack what one of the versions does not know. */
function openRemote(run: RunAgent, lacks: { header: boolean; marks: boolean }) {
  const service = new InMemorySessionService();
  const handle = fetchFrom(handlerOn(service, { run }));
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await handle(input, init);
    const isFeed = response.headers.get('content-type') === 'text/event-stream';
    if (isFeed) {
      return lacks.marks ? new Response(withoutMarks(response.body!), response) : response;
    }
    if (lacks.header) response.headers.delete(RUN_HEADER);
    return response;
  };
  return new RemoteSessionService({ url: URL_OF_SERVER, fetch });
}

const cacheOver = (remote: RemoteSessionService) =>
  new CachedSessionService({ owner: KEY.userId, remote, local: new MemoryLocalStore() });

for (const [version, lacks] of [
  ['a server that sends neither numbers nor the header', { header: true, marks: true }],
  ['an answer without the header', { header: true, marks: false }],
  ['a feed without numbers', { header: false, marks: true }],
  ['a server that sends both', { header: false, marks: false }],
] as const) {
  describe(`A page over ${version}`, () => {
    for (const [agentName, run] of Object.entries({ fast: echo, slow })) {
      for (const isCached of [false, true]) {
        it(`has its messages answered by a ${agentName} agent${isCached ? ', through a cache' : ''}`, async () => {
          const remote = openRemote(run, lacks);
          await remote.createSession(KEY);
          const service = isCached ? cacheOver(remote) : remote;
          const chat = liveSession(service, KEY);
          const stop = chat.subscribe(() => undefined);
          await chat.load();
          for (const [at, text] of ['one', 'two'].entries()) {
            await chat.ask(asks(text));
            await snapshotOf(
              chat,
              ({ run, events }) => run === undefined && events.length === 2 * (at + 1),
            );
          }
          const asking = ['three', 'four'].map((text) => chat.ask(asks(text)));
          await Promise.all(asking);
          const { events, drafts } = await snapshotOf(
            chat,
            ({ run, events }) => run === undefined && events.length === 8,
          );
          assert.deepEqual(textsOf(events), [
            ...['one', 'one!', 'two', 'two!', 'three', 'three!', 'four', 'four!'],
          ]);
          assert.deepEqual(drafts, []);
          stop();
          await service.close();
          await remote.close();
        });
      }
    }
  });
}
