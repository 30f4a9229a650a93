// An agent that ignores its signal stores nothing more once its run is cancelled or undone, whatever handle it uses.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, type SessionService } from '../../../../../js/index.js';
import { rewind } from '../../../../../js/core/history/index.js';
import type { LiveSession, RunAgent } from '../../../../../js/ui/live/index.js';
import { openCache, Server } from '../../../stores/cache/fixture.js';
import { openRemote } from '../../../stores/remote/fixture.js';
import { KEY } from '../stores.js';
import { asks, gate, openChat, says } from './agents.js';

const SERVICES: Readonly<Record<string, () => SessionService>> = {
  memory: () => new InMemorySessionService(),
  HTTP: () => openRemote().remote,
  'a cache': () => openCache(new Server()).cache,
};

type Chat = LiveSession & { readonly question: string };

/** What begins a run. */
const BEGIN: Readonly<Record<string, (chat: Chat) => Promise<unknown>>> = {
  ask: (chat) => chat.ask(asks('more')),
  answer: (chat) => chat.answer({ c1: { confirmed: true } }),
  edit: (chat) => chat.edit(chat.question, asks('again')),
  regenerate: (chat) => chat.regenerate(chat.question),
};

const ENDS: Readonly<
  Record<string, (chat: Chat, service: SessionService, run: string) => unknown>
> = {
  cancelled: (chat) => chat.cancel(),
  undone: (_, service, invocationId) => rewind(service, { ...KEY, before: { invocationId } }),
};

const question = {
  author: 'guide',
  longRunningToolIds: ['c1'],
  content: {
    role: 'model',
    parts: [{ functionCall: { id: 'c1', name: 'adk_request_confirmation', args: {} } }],
  },
};

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`Over ${name}, an agent that reads the session before each append is refused`, () => {
    for (const [verb, begin] of Object.entries(BEGIN)) {
      for (const [reason, end] of Object.entries(ENDS)) {
        it(`once the run of ${verb} is ${reason}`, async (test) => {
          const service = open();
          test.after(() => service.close());
          const begun = gate();
          let invocationId = '';
          let runs = 0;
          const agent: RunAgent = async function* ({ message, signal }) {
            runs += 1;
            yield runs === 1 ? question : { author: 'guide', content: says('one') };
            if (runs === 1) return;
            ({ invocationId } = message);
            begun.open();
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          };
          const { chat, stop } = await openChat(agent, { service });
          test.after(stop);
          const { id } = await chat.ask(asks('pay?'));
          await chat.reload();
          await begin(Object.assign(chat, { question: id }));
          await begun.opened;
          await end(chat as Chat, service, invocationId);
          const before = await service.getSession(KEY);
          for (let tries = 0; tries < 2; tries += 1) {
            const session = await service.getSession(KEY);
            assert.ok(session);
            const event = { invocationId, author: 'guide', content: says('late') };
            const staleReason = reason;
            const append = service.appendEvent({ session, event });
            await assert.rejects(append, { code: 'stale_session', staleReason });
          }
          const after = await service.getSession(KEY);
          assert.equal(after?.events.length, before?.events.length);
          await chat.cancel();
        });
      }
    }
  });
}
