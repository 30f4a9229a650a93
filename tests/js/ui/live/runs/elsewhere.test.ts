// Pages of a process whose session another process answers, without a channel between them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { SessionService } from '../../../../../js/index.js';
import { KEY, snapshotOf } from '../stores.js';
import { asks, textsOf } from './agents.js';
import { scripted, ServedAgent } from './served.js';

/** Two processes over one storage: the first answers as the test says, and a page of each. */
async function serveTwo(open: (served: ServedAgent) => SessionService, maxRunMs = 60_000) {
  const agent = scripted();
  const options = { processes: 'many', maxRunMs } as const;
  const one = await new ServedAgent(agent.run).open(agent.run, options);
  const other = await new ServedAgent(agent.run, one.service).open(agent.run, options);
  await one.service.createSession(KEY);
  const asker = await one.page(open(one));
  const watcher = await other.page(open(other));
  const end = async (): Promise<void> => {
    await other.end();
    await one.end();
  };
  return { agent, one, other, asker, watcher, end };
}

const statusesOf = (shown: readonly { run?: { status: string } | undefined }[]) => [
  ...new Set(shown.map(({ run }) => run?.status)),
];

for (const [name, open] of Object.entries({
  'over a remote service': (served: ServedAgent) => served.remote(),
  'over a cache': (served: ServedAgent) => served.cache(),
})) {
  describe(`A page ${name} whose session another process answers`, () => {
    it('shows it as running elsewhere, never as unanswered, and then the answer', async () => {
      const { agent, asker, watcher, end } = await serveTwo(open);
      const { id } = await asker.chat.ask(asks('hi'));
      const { run } = await snapshotOf(watcher.chat, (shown) => shown.run !== undefined);
      assert.deepEqual(run, { status: 'running', messageId: id, isElsewhere: true });
      agent.answer('Green');
      await snapshotOf(watcher.chat, ({ events, run }) => events.length === 2 && run === undefined);
      await snapshotOf(asker.chat, ({ events, run }) => events.length === 2 && run === undefined);
      assert.deepEqual(textsOf(watcher.chat.getSnapshot().events), ['hi', 'Green']);
      assert.equal(statusesOf(watcher.shown).includes('unanswered'), false);
      assert.equal(statusesOf(asker.shown).includes('unanswered'), false);
      await end();
    });

    it('stops it: the other process stores nothing more', async () => {
      const { agent, asker, watcher, end } = await serveTwo(open);
      await asker.chat.ask(asks('hi'));
      await snapshotOf(watcher.chat, ({ run }) => run?.status === 'running');
      await watcher.chat.cancel();
      await snapshotOf(watcher.chat, ({ run }) => run?.status === 'cancelled');
      agent.answer('Green');
      await snapshotOf(asker.chat, ({ run }) => run?.status === 'cancelled');
      await watcher.chat.ask(asks('again'));
      agent.answer('Black');
      await snapshotOf(watcher.chat, ({ run, events }) => run === undefined && events.length === 4);
      const texts = textsOf(watcher.chat.getSnapshot().events).filter(Boolean);
      assert.deepEqual(texts, ['hi', 'again', 'Black']);
      await end();
    });

    it('has the next message wait until the other process has answered', async () => {
      const { agent, asker, watcher, end } = await serveTwo(open);
      await asker.chat.ask(asks('hi'));
      await snapshotOf(watcher.chat, ({ run }) => run?.status === 'running');
      const next = watcher.chat.ask(asks('and you'));
      await snapshotOf(watcher.chat, ({ unsent }) => unsent !== undefined);
      agent.answer('Green');
      await snapshotOf(watcher.chat, ({ events }) => textsOf(events).includes('Green'));
      await next;
      agent.answer('Black');
      await snapshotOf(watcher.chat, ({ events }) => textsOf(events).includes('Black'));
      assert.deepEqual(textsOf(watcher.chat.getSnapshot().events), [
        'hi',
        'Green',
        'and you',
        'Black',
      ]);
      await end();
    });
  });
}
