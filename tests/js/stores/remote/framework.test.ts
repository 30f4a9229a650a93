import assert from 'node:assert/strict';
import { it } from 'node:test';

import { LlmAgent, Runner } from '@google/adk';

import { asAdkService } from '../../../../js/service/adk/index.js';
import { KEY, openRemote } from './fixture.js';

it("the framework's Runner keeps its turns on a server", async () => {
  const { service, remote } = openRemote();
  const sessionService = asAdkService(remote);
  await sessionService.createSession(KEY);
  const agent = new LlmAgent({
    name: 'guide',
    beforeAgentCallback: ({ state }) => {
      state.set('turns', state.get<number>('turns', 0)! + 1);
      return { role: 'model', parts: [{ text: 'done' }] };
    },
  });
  const runner = new Runner({ appName: KEY.appName, agent, sessionService });
  for (const text of ['hi', 'go on']) {
    const newMessage = { role: 'user', parts: [{ text }] };
    for await (const { author } of runner.runAsync({ ...KEY, newMessage })) {
      assert.equal(author, 'guide');
    }
  }
  const stored = await service.getSession(KEY);
  assert.equal(stored?.state.turns, 2);
  assert.deepEqual(
    stored.events.map(({ author }) => author),
    ['user', 'guide', 'user', 'guide'],
  );
});
