// A Runner of the framework over a cache, while the remote does not answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { LlmAgent, Runner } from '@google/adk';

import { asAdkService } from '../../../../../js/service/adk/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { RecordingModel } from '../../../service/adk/histories/conversation.js';
import { idsOf, KEY, openCache, OUTAGES, Server } from '../fixture.js';

/** Runs a turn of an agent that writes a key of the state. Returns the texts of its events. */
async function runTurn(cache: CachedSessionService): Promise<(string | undefined)[]> {
  const agent = new LlmAgent({
    name: 'guide',
    model: new RecordingModel([], ({ text }) => [{ text: `You said ${text}.` }]),
    outputKey: 'answer',
  });
  const sessionService = asAdkService(cache);
  await sessionService.getOrCreateSession({ ...KEY, state: { initial: true } });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
  const texts: (string | undefined)[] = [];
  for await (const { content, errorMessage } of runner.runAsync({ ...KEY, newMessage })) {
    assert.equal(errorMessage, undefined);
    texts.push(content?.parts?.[0]?.text);
  }
  return texts;
}

describe('The first turn of a Runner in an unknown session', () => {
  for (const [outage, cut] of Object.entries(OUTAGES)) {
    it(`is stored while the remote ${outage}, and is sent when it is back`, async () => {
      const server = new Server();
      const end = cut(server);
      const { cache } = openCache(server, { readTimeoutMs: 20 });
      assert.deepEqual(await runTurn(cache), ['You said hi.']);

      assert.deepEqual(cache.status.pending, [{ key: KEY, events: 2 }]);
      const shown = (await cache.getSession(KEY))!;
      assert.deepEqual(shown.state, { initial: true, answer: 'You said hi.' });
      const authors = shown.events.map(({ author }) => author);
      assert.deepEqual(authors, ['user', 'guide']);
      assert.equal(await server.service.getSession(KEY), undefined);

      end();
      await cache.sync();
      const stored = (await server.service.getSession(KEY))!;
      assert.deepEqual([idsOf(stored), stored.state], [idsOf(shown), shown.state]);
      assert.deepEqual(cache.status.pending, []);
      await cache.close();
    });
  }
});
