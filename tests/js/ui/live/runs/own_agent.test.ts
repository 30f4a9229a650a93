// An agent of the page over a remote and over a cache: a rewind is sent first, and the page's own run is aborted after it.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

import type { SessionService } from '../../../../../js/index.js';
import type { RunAgent } from '../../../../../js/ui/live/index.js';
import { openCache, Server, until, untilSent } from '../../../stores/cache/fixture.js';
import { isAbort } from '../../../../../js/values/model/event/waiting.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, echo, openChat, says, textsOf } from './agents.js';

type Way = 'a remote' | 'a cache';

/** A page whose agent streams to `green?` until it is stopped, and answers every other message at once. */
async function openStreaming(test: TestContext, way: Way) {
  const server = new Server();
  const cache = way === 'a cache' ? openCache(server).cache : undefined;
  const service: SessionService = cache ?? server.client();
  let signal: AbortSignal | undefined;
  const agent: RunAgent = async function* (context) {
    if (textsOf([context.message])[0] !== 'green?') {
      yield* echo(context);
      return;
    }
    ({ signal } = context);
    yield { author: 'guide', partial: true, content: says('Gre') };
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
  };
  const { chat, stop } = await openChat(agent, { service });
  test.after(stop);
  const message = await chat.ask(asks('green?'));
  await snapshotOf(chat, ({ drafts }) => textsOf(drafts).join() === 'Gre');
  if (cache !== undefined) await until(() => untilSent(cache));
  return { server, cache, service, chat, message, isAborted: () => signal?.aborted === true };
}

/** Refuses each rewind. */
function refuse(server: Server): void {
  server.intercept = ({ url }) =>
    Promise.resolve(
      url.endsWith('/rewind') ? Response.json({ detail: 'No.' }, { status: 403 }) : undefined,
    );
}

const storedOf = async ({ service }: Server) => (await service.getSession(KEY))?.events ?? [];

/** The branch that an edit has undone has its stored events alone. */
async function requireUnsealed(server: Server): Promise<void> {
  const events = await storedOf(server);
  assert.deepEqual(textsOf(events), ['green?', undefined, 'black?', 'black?!']);
  assert.ok(events.every(({ errorCode, interrupted }) => !errorCode && !interrupted));
}

describe("During a run of the page's agent over a remote", () => {
  it('an edit is sent without texts and end event, and the run is aborted after it', async (t) => {
    const { server, chat, message, isAborted } = await openStreaming(t, 'a remote');
    const wasAborted: boolean[] = [];
    const bodies: string[] = [];
    server.intercept = async (request) => {
      if (!request.url.endsWith('/rewind')) return undefined;
      wasAborted.push(isAborted());
      bodies.push(await request.text());
      return undefined;
    };
    await chat.edit(message.id, asks('black?'));
    assert.equal(isAborted(), true);
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 2);
    assert.deepEqual(wasAborted, [false]);
    assert.ok(!bodies[0]!.includes('Gre'));
    await requireUnsealed(server);
  });

  it('an edit that the remote refuses changes nothing, and the run goes on', async (t) => {
    const { server, chat, message, isAborted } = await openStreaming(t, 'a remote');
    refuse(server);
    await assert.rejects(chat.edit(message.id, asks('black?')), { status: 403 });
    assert.equal(isAborted(), false);
    const { run, drafts } = chat.getSnapshot();
    assert.deepEqual(run, { status: 'running', messageId: message.id });
    assert.deepEqual(textsOf(drafts), ['Gre']);
    assert.deepEqual(textsOf(await storedOf(server)), ['green?']);
    await chat.cancel();
  });
});

describe("During a run of the page's agent over a cache", () => {
  it('an edit aborts the run once it stands in the outbox, and is sent without texts and end event', async (t) => {
    const { server, cache, chat, message, isAborted } = await openStreaming(t, 'a cache');
    server.isOffline = true;
    await chat.edit(message.id, asks('black?'));
    assert.equal(isAborted(), true);
    assert.deepEqual(textsOf(await storedOf(server)), ['green?']);
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 2);
    server.isOffline = false;
    await cache!.sync();
    await requireUnsealed(server);
  });

  it('an edit that the remote refuses later ends the aborted run as cancelled', async (t) => {
    const { server, cache, chat, message } = await openStreaming(t, 'a cache');
    server.isOffline = true;
    const edited = await chat.edit(message.id, asks('black?'));
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 2);
    refuse(server);
    server.isOffline = false;
    await cache!.sync();
    await snapshotOf(chat, ({ unsent }) => unsent[edited.id]?.error !== undefined);
    // The page shows the edit as refused. The message that it undoes is back once the edit is discarded.
    await chat.discard(edited.id);
    const { events } = await snapshotOf(chat, ({ events }) => events.some(isAbort));
    assert.deepEqual(textsOf(events), ['green?', 'black?!', 'Gre', undefined]);
    assert.deepEqual(
      events.slice(2).map(({ invocationId }) => invocationId),
      [message.invocationId, message.invocationId],
    );
    await until(() => untilSent(cache!));
    assert.deepEqual(textsOf(await storedOf(server)), textsOf(events));
  });

  it('an edit that the remote takes stores no end event, also if its branch comes back', async (t) => {
    const { server, cache, chat, message } = await openStreaming(t, 'a cache');
    server.isOffline = true;
    await chat.edit(message.id, asks('black?'));
    await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 2);
    server.isOffline = false;
    await cache!.sync();
    await snapshotOf(chat, ({ unsent }) => Object.keys(unsent).length === 0);
    const [place] = await chat.branches();
    await chat.switchBranch(place!.alternatives[0]!.branch!);
    const { run } = await snapshotOf(chat, ({ events }) => textsOf(events).join() === 'green?');
    assert.equal(run?.status, 'unanswered');
    await until(() => untilSent(cache!));
    await chat.reload();
    assert.equal(chat.getSnapshot().run?.status, 'unanswered');
  });
});
