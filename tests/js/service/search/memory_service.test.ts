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

/** Questions, and what answers them. */
const QUESTIONS: Readonly<Record<string, string>> = {
  '我的名字是什么？': '你好，我叫小明，这是我的名字',
  '私の好きな食べ物は何ですか？': '好きな食べ物はラーメンです',
  '제 강아지 이름이 뭐예요?': '강아지 이름이 초코예요',
  ฉันชื่ออะไร: 'ฉันชื่อสมชาย',
  ຂ້ອຍຊື່ຫຍັງ: 'ຂ້ອຍຊື່ບຸນມີ',
  ខ្ញុំឈ្មោះអ្វី: 'ខ្ញុំឈ្មោះសុខា',
  ကျွန်တော့်နာမည်ဘယ်လိုခေါ်လဲ: 'ကျွန်တော့်နာမည်အောင်ပါ',
  'ما هو اسم قطتي؟': 'اسم قطتي مشمش',
  'מה שם הכלב שלי?': 'הכלב נקרא רקסי',
  'मेरा शहर कौन सा है?': 'मेरा शहर पुणे',
  'Где я живу?': 'живу в Казани',
  'Which colour do I like?': 'My favourite colour: blue',
};

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

  it('answers a question in twelve scripts, by the best of its words or their parts', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...USER, sessionId: 'before' });
    const facts = Object.values(QUESTIONS);
    await service.appendEvents({ session, events: facts.map((fact) => says(fact)) });
    const memory = sessionSearch(service).asMemoryService();
    for (const [query, fact] of Object.entries(QUESTIONS)) {
      const { memories } = await memory.searchMemory({ ...USER, query });
      assert.equal(memories[0]?.content.parts?.[0]?.text, fact, query);
    }
  });

  it('finds a word of Hiragana alone as it stands, and counts its pairs for nothing elsewhere', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...USER, sessionId: 'before' });
    const texts = ['ひまわりが好きです', 'そうですか'];
    await service.appendEvents({ session, events: texts.map((text) => says(text)) });
    const memory = sessionSearch(service).asMemoryService();
    const found = async (query: string) => {
      const { memories } = await memory.searchMemory({ ...USER, query });
      return memories.map(({ content }) => content.parts?.[0]?.text);
    };
    assert.deepEqual(await found('ひまわり'), [texts[0]]);
    assert.deepEqual(await found('名前は何ですか'), []);
  });

  it('asks by the rarest parts of a long question, whose number the engines limit', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession({ ...USER, sessionId: 'before' });
    const common = Array.from({ length: 200 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    const events = [says('我的猫叫小白'), ...[1, 2, 3].map(() => says(common.join('')))];
    await service.appendEvents({ session, events });
    const memory = sessionSearch(service).asMemoryService();
    const query = `${common.join('')}，我的猫叫什么名字`;
    const { memories } = await memory.searchMemory({ ...USER, query });
    assert.ok(memories.some(({ content }) => content.parts?.[0]?.text === '我的猫叫小白'));
  });

  it('asks by the parts that occur if most of a long question occurs in the question alone', async () => {
    const service = new InMemorySessionService();
    const add = async (sessionId: string, text: string) => {
      const session = await service.createSession({ ...USER, sessionId });
      await service.appendEvent({ session, event: says(text) });
    };
    const absent = Array.from({ length: 400 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    const query = `${absent.join('')}，我的猫叫什么名字`;
    await add('before', '我的猫叫小白');
    const found = async (question: string, except?: () => readonly string[]) => {
      const memory = sessionSearch(service).asMemoryService({ except });
      const { memories } = await memory.searchMemory({ ...USER, query: question });
      return memories.map(({ content }) => content.parts?.[0]?.text);
    };
    assert.deepEqual(await found(query), ['我的猫叫小白']);
    await add('today', query);
    assert.deepEqual(await found(query), ['我的猫叫小白']);
    const long = `${query}${'x'.repeat(512)}`;
    await add('long', long);
    assert.deepEqual(await found(long, () => ['today']), ['我的猫叫小白']);
  });

  it('answers a long question within two seconds, although the index is not ready', async (t) => {
    const service = await yesterday();
    const { getSession } = service;
    await service.createSession({ ...USER, sessionId: 'blocked' });
    service.getSession = (request) =>
      request.sessionId === 'blocked'
        ? new Promise<never>(() => undefined)
        : getSession.call(service, request);
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const memory = sessionSearch(service).asMemoryService();
    const query = ['tea', ...Array.from({ length: 120 }, (_, at) => `w${at}`)].join(' ');
    let count: number | undefined;
    const searched = memory.searchMemory({ ...USER, query }).then(({ memories }) => {
      count = memories.length;
    });
    for (; count === undefined && now < 10_000; now += 10) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(10);
    }
    await searched;
    assert.equal(count, 1);
    // Each wait ends with a turn of the loop.
    assert.ok(now < 2100, `${now} ms`);
  });

  it('remembers neither the question itself, nor an invocation without a final answer, nor a session that is excepted', async () => {
    const service = await yesterday();
    const session = await service.createSession({ ...USER, sessionId: 'today' });
    const turn = (invocationId: string, ...events: Parameters<typeof createEvent>[0][]) =>
      service.appendEvents({
        session,
        events: events.map((event) => createEvent({ ...event, invocationId })),
      });
    const text = (text: string) => ({ parts: [{ text }] });
    const call = { parts: [{ functionCall: { name: 'load_memory', args: {} } }] };
    await turn(
      'i1',
      { author: 'user', content: text('white tea') },
      { author: 'a', content: text('Yes') },
    );
    await turn(
      'i2',
      { author: 'user', content: text('black tea') },
      { author: 'a', content: call },
    );
    const found = async (query: string, except?: () => readonly string[]) => {
      const memory = sessionSearch(service).asMemoryService({ except });
      const { memories } = await memory.searchMemory({ ...USER, query });
      return memories.map(({ content }) => content.parts?.[0]?.text);
    };
    const green = '녹차를 추천해요: green tea';
    assert.deepEqual(await found('tea'), ['white tea', green]);
    assert.deepEqual(await found('White tea?'), [green]);
    assert.deepEqual(await found('tea', () => ['today']), [green]);
    await turn('i2', { author: 'a', content: text('Never') });
    assert.deepEqual(await found('tea'), ['black tea', 'white tea', green]);
    const except = ['today'] as unknown as () => string[];
    const make = () => sessionSearch(service).asMemoryService({ except });
    assert.throws(make, failsWith('invalid_argument', /^except/));
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
