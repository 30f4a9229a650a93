import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { LlmAgent, LOAD_MEMORY, Runner } from '@google/adk';

import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import { asAdkService } from '../../../../js/service/adk/index.js';
import { sessionSearch } from '../../../../js/service/search/index.js';
import { failsWith } from '../../fails_with.js';
import { ScriptedModel } from '../adk/pairing/scripted_model.js';
import { toolCall } from '../adk/model_script.js';
import { says, USER } from '../fixture.js';

async function yesterday(): Promise<InMemorySessionService> {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...USER, sessionId: 'yesterday' });
  const parts = [{ text: 'She means tea', thought: true }, { text: '녹차를 추천해요: green tea' }];
  const content = { role: 'model', parts };
  const answer = createEvent({ id: 'e1', author: 'agent', timestamp: 1000, content });
  await service.appendEvents({ session, events: [answer, says('Thank you')] });
  return service;
}

describe('A memory service', () => {
  it('lets a Runner with LOAD_MEMORY answer from the session of yesterday', async () => {
    const service = await yesterday();
    const model = new ScriptedModel([
      toolCall('load_memory', { query: '녹차 price' }),
      'Green tea',
    ]);
    const agent = new LlmAgent({ name: 'desk', model, tools: [LOAD_MEMORY] });
    const runner = new Runner({
      appName: USER.appName,
      agent,
      sessionService: asAdkService(service),
      memoryService: sessionSearch(service).asMemoryService(),
    });
    await service.createSession({ ...USER, sessionId: 'today' });
    const newMessage = { role: 'user', parts: [{ text: 'What did you say?' }] };
    for await (const event of runner.runAsync({ ...USER, sessionId: 'today', newMessage })) {
      assert.equal(event.errorCode, undefined);
    }
    const last = model.requests.at(-1)?.contents.at(-1)?.parts?.[0]?.functionResponse;
    assert.deepEqual(last?.response, {
      memories: [
        {
          content: '녹차를 추천해요: green tea',
          author: 'agent',
          timestamp: '1970-01-01T00:00:01.000Z',
        },
      ],
    });
  });

  it('finds any word of a long query, of this user alone, the best entries first', async () => {
    const service = await yesterday();
    const session = await service.createSession({ ...USER, sessionId: 'today' });
    const events = Array.from({ length: 30 }, (_, at) => says(`tea number ${at}`));
    await service.appendEvents({ session, events });
    const memory = sessionSearch(service).asMemoryService({ remembers: 'all' });
    await memory.addSessionToMemory(session);
    const query = `green tea ${'x'.repeat(1000)}`;
    const { memories } = await memory.searchMemory({ ...USER, query });
    assert.equal(memories.length, 20);
    const parts = [{ text: '녹차를 추천해요: green tea' }];
    assert.deepEqual(memories[0]?.content, { role: 'model', parts });
    assert.deepEqual(memories[1]?.content.parts, [{ text: 'tea number 29' }]);
    const others = await memory.searchMemory({ ...USER, userId: 'other', query });
    assert.deepEqual(others.memories, []);
    assert.deepEqual((await memory.searchMemory({ ...USER, query: '?' })).memories, []);
  });

  it('gives the newest of equal entries, also of a session that was updated earlier', async () => {
    const service = new InMemorySessionService();
    const now = Date.now();
    const at = (ms: number, text: string) => createEvent({ ...says(text), timestamp: now + ms });
    const long = await service.createSession({ ...USER, sessionId: 'long' });
    const events = Array.from({ length: 30 }, (_, index) => at(1000 + index, 'Old tea'));
    await service.appendEvents({ session: long, events: [...events, at(9000, 'Thank you')] });
    const short = await service.createSession({ ...USER, sessionId: 'short' });
    await service.appendEvents({ session: short, events: [at(5000, 'New tea')] });
    const memory = sessionSearch(service).asMemoryService();
    const { memories } = await memory.searchMemory({ ...USER, query: 'tea' });
    assert.deepEqual(memories[0]?.content.parts, [{ text: 'New tea' }]);
    assert.equal(memories.length, 20);
  });

  it('that remembers added sessions alone is unsupported where the index is in the process', async () => {
    const search = sessionSearch(new InMemorySessionService());
    const memory = search.asMemoryService({ remembers: 'added' });
    await assert.rejects(
      memory.addSessionToMemory({ ...USER, id: 's1' }),
      failsWith('unsupported'),
    );
    await assert.rejects(memory.searchMemory({ ...USER, query: 'tea' }), failsWith('unsupported'));
    const remembers = 'some' as 'all';
    assert.throws(() => search.asMemoryService({ remembers }), failsWith('invalid_argument'));
  });
});
