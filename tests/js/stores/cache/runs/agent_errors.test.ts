// Errors of the server's agent that a cache must not take for errors of its own request.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../../../js/index.js';
import type { RunAgent } from '../../../../../js/ui/live/index.js';
import { asks, says, storesMessage, textsOf } from '../../../ui/live/runs/agents.js';
import { ServedAgent } from '../../../ui/live/runs/served.js';
import { KEY, snapshotOf } from '../../../ui/live/stores.js';

/** A page over a cache whose server has an agent that throws an error with this code. */
async function openPage(code: SessionError['code'], isBeforeMessage: boolean) {
  const asked: string[] = [];
  const agent: RunAgent = ({ message }) => {
    asked.push(message.id);
    if (textsOf([message])[0] !== 'fail') return answering();
    throw new SessionError(code, 'of another session');
  };
  const served = await new ServedAgent(isBeforeMessage ? storesMessage(agent) : agent).open();
  await served.service.createSession(KEY);
  const cache = served.cache();
  const { chat, shown } = await served.page(cache);
  return { asked, served, cache, chat, shown };
}

async function* answering() {
  yield { author: 'guide', content: says('yes') };
}

for (const code of ['not_found', 'agent_running', 'stale_session', 'closed'] as const) {
  describe(`An agent's own error ${code}, through a cache,`, () => {
    it('before the message is stored sets the message aside, and it is not sent again', async () => {
      const { asked, served, cache, chat, shown } = await openPage(code, true);
      const { id } = await chat.ask(asks('fail'));
      const { unsent } = await snapshotOf(chat, (now) => now.unsent[id]?.error !== undefined);
      assert.ok(isSessionError(unsent[id]?.error, 'run_failed'));
      await cache.sync();
      const [setAside, ...others] = await cache.outbox.list(KEY);
      assert.deepEqual([setAside?.error?.code, others], ['run_failed', []]);
      assert.deepEqual(setAside?.error?.cause, { code });
      assert.equal((await served.service.getSession(KEY))?.events.length, 0);
      const next = await chat.ask(asks('hi'));
      await cache.sync();
      assert.deepEqual(asked, [id, next.id], 'the next message is sent');
      await chat.discard(id);
      await snapshotOf(
        chat,
        ({ run, events }) => run === undefined && textsOf(events).join() === 'hi,yes',
      );
      assert.equal(asked.filter((one) => one === id).length, 1);
      assert.ok(shown.every(({ status }) => status !== 'deleted'));
      await served.end();
    });

    it('after the message is stored is shown as that of its run, and the session goes on', async () => {
      const { asked, served, cache, chat, shown } = await openPage(code, false);
      const { id } = await chat.ask(asks('fail'));
      const { run } = await snapshotOf(chat, ({ run }) => run?.status === 'failed');
      assert.equal(run?.messageId, id);
      assert.ok(isSessionError(run.error, 'run_failed'));
      assert.deepEqual(run.error.cause, { code });
      await cache.sync();
      assert.deepEqual(await cache.outbox.list(KEY), []);
      assert.deepEqual(Object.keys(chat.getSnapshot().unsent), []);
      await chat.ask(asks('hi'));
      await snapshotOf(chat, ({ run, events }) => run === undefined && events.length === 4);
      assert.deepEqual(textsOf(chat.getSnapshot().events), ['fail', undefined, 'hi', 'yes']);
      assert.equal(asked.filter((one) => one === id).length, 1);
      assert.ok(shown.every(({ status }) => status !== 'deleted'));
      await served.end();
    });
  });
}
