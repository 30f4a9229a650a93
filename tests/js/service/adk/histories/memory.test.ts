import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemoryMemoryService, LlmAgent, Runner } from '@google/adk';

import { ScriptedModel } from '../pairing/scripted_model.js';
import { asAdkService } from '../../../../../js/service/adk/index.js';
import { rewind } from '../../../../../js/core/history/index.js';
import { InMemorySessionService } from '../../../../../js/index.js';
import { key } from '../scenarios/scenario.js';

it('A memory gets the undone turns too from a raw read, and only the live ones by default', async () => {
  const service = new InMemorySessionService();
  const sessionService = asAdkService(service);
  await service.createSession(key);
  const model = new ScriptedModel(['Green tea it is.', 'Black tea it is.']);
  const agent = new LlmAgent({ name: 'agent', model });
  const runner = new Runner({ appName: key.appName, agent, sessionService });
  const say = async (text: string): Promise<string> => {
    let invocationId = '';
    const newMessage = { role: 'user', parts: [{ text }] };
    for await (const event of runner.runAsync({ ...key, newMessage })) ({ invocationId } = event);
    return invocationId;
  };
  await rewind(service, { ...key, before: { invocationId: await say('green tea?') } });
  await say('black tea?');

  const remembered = async (config?: { view: 'raw' }) => {
    const memory = new InMemoryMemoryService();
    await memory.addSessionToMemory((await sessionService.getSession({ ...key, config }))!);
    const { memories } = await memory.searchMemory({ ...key, query: 'tea' });
    return memories.map(({ content }) => content.parts?.[0]?.text);
  };
  const live = ['black tea?', 'Black tea it is.'];
  assert.deepEqual(await remembered({ view: 'raw' }), ['green tea?', 'Green tea it is.', ...live]);
  assert.deepEqual(await remembered(), live);
});
