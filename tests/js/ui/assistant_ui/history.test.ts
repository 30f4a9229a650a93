import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { sessionHistory } from '../../../../js/ui/assistant_ui/index.js';
import { InMemorySessionService, Invocation } from '../../../../js/index.js';
import { answered, historyOf, KEY, message, reloaded, text } from './threads.js';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';

describe('The history of a thread', () => {
  it('is empty for a thread that is not stored', async () => {
    const service = new InMemorySessionService();
    assert.deepEqual(await historyOf(service, undefined).load(), { messages: [] });
    assert.deepEqual(await historyOf(service, 'gone').load(), { messages: [] });
  });

  it('stores messages as events, and returns the same messages', async () => {
    const { items, loaded, events } = await reloaded(
      message(
        'm1',
        'user',
        [text('Which tea?'), { type: 'image', image: PIXEL, filename: 'a.gif' }],
        {
          metadata: { custom: { mood: 'curious' } },
        },
      ),
      message('m2', 'assistant', [
        { type: 'reasoning', text: 'hm' },
        text('Let me look.'),
        { ...answered, result: { teas: ['green'] } },
        { ...answered, toolCallId: 'c2', result: 'none', isError: true },
        text('Green.'),
      ]),
      message('m3', 'user', [
        { type: 'file', data: 'JVBERi0=', mimeType: 'application/pdf', filename: 'menu.pdf' },
        { type: 'image', image: 'https://tea.example/leaf.png' },
      ]),
    );
    const bare = (message: object) => JSON.parse(JSON.stringify(message)) as object;
    assert.deepEqual(
      loaded.messages.map(({ message, parentId }) => ({ parentId, ...bare(message), metadata: 0 })),
      items.map(({ message, parentId }) => ({ parentId, ...bare(message), metadata: 0 })),
    );
    assert.deepEqual(loaded.messages[0]?.message.metadata.custom, { mood: 'curious' });
    assert.equal(loaded.headId, 'm3');
    assert.deepEqual(
      events.map(({ id, author, invocationId, content }) => [
        id,
        author,
        invocationId,
        content?.role,
      ]),
      [
        ['m1', 'user', 'e-m1', 'user'],
        ['m2', 'assistant', 'e-m2', 'model'],
        ['m2-1', 'assistant', 'e-m2', 'user'],
        ['m2-2', 'assistant', 'e-m2', 'model'],
        ['m3', 'user', 'e-m3', 'user'],
      ],
    );
    assert.deepEqual(events[0]?.content?.parts?.[1], {
      inlineData: { mimeType: 'image/gif', data: 'R0lGODlhAQABAAAAACw=', displayName: 'a.gif' },
    });
    assert.deepEqual(events[1]?.content?.parts, [
      { text: 'hm', thought: true },
      { text: 'Let me look.' },
      { functionCall: { id: 'c1', name: 'find', args: { n: 1 } } },
      { functionCall: { id: 'c2', name: 'find', args: { n: 1 } } },
    ]);
    assert.deepEqual(events[2]?.content?.parts, [
      { functionResponse: { id: 'c1', name: 'find', response: { result: { teas: ['green'] } } } },
      { functionResponse: { id: 'c2', name: 'find', response: { error: 'none' } } },
    ]);
    assert.deepEqual(events[4]?.content?.parts?.[1], {
      fileData: { mimeType: 'image/*', fileUri: 'https://tea.example/leaf.png' },
    });
  });

  it('returns attachments as attachments', async () => {
    const attachments = [
      {
        id: 'a1',
        type: 'image',
        name: 'a.gif',
        contentType: 'image/gif',
        status: { type: 'complete' },
        content: [{ type: 'image', image: PIXEL }],
      },
      {
        id: 'a2',
        type: 'document',
        name: 'b.txt',
        status: { type: 'complete' },
        content: [text('b'), text('c')],
      },
    ];
    const { loaded } = await reloaded(message('m1', 'user', [text('See')], { attachments }));
    const [{ message: loadedMessage } = assert.fail()] = loaded.messages;
    assert.ok(loadedMessage.role === 'user');
    assert.deepEqual(loadedMessage.content, [text('See')]);
    assert.deepEqual(JSON.parse(JSON.stringify(loadedMessage.attachments)), attachments);
  });

  it('gives every result of a tool back as it was', async () => {
    const result = fc.jsonValue({ maxDepth: 2 });
    const wrapped = fc.record({ result }, { requiredKeys: [] });
    const anyResult = fc.oneof(result, wrapped, fc.record({ error: result }));
    await fc.assert(
      fc.asyncProperty(anyResult, fc.boolean(), async (result, isError) => {
        const part = { ...answered, result, ...(isError && { isError }) };
        const { loaded } = await reloaded(message('m1', 'assistant', [part]));
        const content = JSON.stringify(loaded.messages[0]?.message.content);
        assert.deepEqual(JSON.parse(content), JSON.parse(JSON.stringify([part])));
      }),
      { numRuns: 100 },
    );
  });

  it('keeps branches', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const history = historyOf(service, 's1');
    const parents = { q: null, a: 'q', again: 'q', edited: null };
    const writes = Object.entries(parents).map(([id, parentId]) =>
      history.append({
        message: message(id, id === 'a' || id === 'again' ? 'assistant' : 'user', [text(id)]),
        parentId,
      }),
    );
    await Promise.all(writes);
    const { messages, headId } = await history.load();
    assert.deepEqual(
      Object.fromEntries(messages.map(({ message, parentId }) => [message.id, parentId])),
      parents,
    );
    assert.equal(headId, 'edited');
    await history.append({ message: message('b', 'assistant', [text('b')]), parentId: 'edited' });
    // Of the last event, the parent is not read.
    const last = await historyOf(service, 's1', { window: 1 }).load();
    assert.deepEqual(
      last.messages.map(({ message, parentId }) => [message.id, parentId]),
      [['b', null]],
    );
  });

  it('loads events of other programs, whatever they have in place of what is expected', async () => {
    const odd = [
      null,
      5,
      'tea',
      [],
      [null],
      {},
      { messageId: 5 },
      { messageId: 'm', attachments: [{}] },
    ];
    const odder: object[] = odd.flatMap((value) => [
      { customMetadata: value },
      { customMetadata: { assistantUi: value } },
      // An append refuses any other content.
      ...(typeof value === 'object' && !Array.isArray(value) ? [{ content: value }] : []),
      { content: { parts: value } },
      {
        content: { parts: [{ text: value }, { functionCall: value }, { functionResponse: value }] },
      },
      { content: { parts: [{ functionCall: { id: value, name: value, args: value } }] } },
      {
        content: {
          parts: [{ inlineData: value }, { fileData: { mimeType: value, fileUri: value } }],
        },
      },
      { errorCode: value },
    ]);
    for (const author of ['user', 'guide']) {
      const service = new InMemorySessionService();
      const session = await service.createSession(KEY);
      const events = odder.map((members) => ({ author, invocationId: 'i', ...members }));
      await service.appendEvents({ session, events });
      const { messages } = await historyOf(service, 's1').load();
      for (const { message } of messages) {
        assert.equal(typeof message.id, 'string');
        for (const part of message.content) {
          if (part.type === 'text') assert.equal(typeof part.text, 'string');
          if (part.type === 'image') assert.equal(typeof part.image, 'string');
          if (part.type === 'file')
            assert.equal(typeof part.mimeType + typeof part.data, 'stringstring');
          if (part.type !== 'tool-call') continue;
          assert.equal(typeof part.toolName + typeof part.toolCallId, 'stringstring');
          assert.equal(Object.getPrototypeOf(part.args), Object.prototype);
        }
      }
    }
  });

  it('stores messages in the order of the calls', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const history = historyOf(service, 's1');
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await Promise.all(
      ids.map((id, at) =>
        history.append({ message: message(id, 'user', [text(id)]), parentId: ids[at - 1] ?? null }),
      ),
    );
    const session = await service.getSession(KEY);
    assert.deepEqual(
      session?.events.map(({ id }) => id),
      ids,
    );
  });

  it('stores messages in the order of the calls, also if a thread is initialized late', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const waiting: (() => void)[] = [];
    const history = sessionHistory({ service, appName: 'shop', userId: 'ada' }, () => ({
      getState: () => ({ remoteId: 's1' }),
      initialize: () => new Promise((resolve) => waiting.push(() => resolve({ remoteId: 's1' }))),
    }));
    const appended = ['m1', 'm2', 'm3'].map((id) =>
      history.append({ message: message(id, 'user', [text(id)]), parentId: null }),
    );
    for (const initialize of waiting.reverse()) {
      initialize();
      await Promise.resolve();
    }
    await Promise.all(appended);
    const { messages } = await history.load();
    assert.deepEqual(
      messages.map(({ message }) => message.id),
      ['m1', 'm2', 'm3'],
    );
  });

  it('stores the events of a message with growing times, by which other programs order them', async () => {
    const { events, loaded } = await reloaded(
      message('m1', 'assistant', [{ ...answered, result: 1 }, text('One.')]),
    );
    const first = events[0]?.timestamp ?? NaN;
    assert.deepEqual(
      events.map(({ timestamp }) => timestamp - first),
      [0, 1, 2],
    );
    assert.equal(loaded.messages[0]?.message.createdAt.getTime(), first);
  });

  it('gives each call of a tool without ids its own result', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const event = { invocationId: 'i1', author: 'guide' };
    const functionCall = { name: 'find', args: {} };
    const responses = [1, 2].map((result) => ({
      functionResponse: { name: 'find', response: { result } },
    }));
    await service.appendEvents({
      session,
      events: [
        // A run that ended before the tool had a result.
        { ...event, invocationId: 'i0', content: { role: 'model', parts: [{ functionCall }] } },
        { ...event, content: { role: 'model', parts: [{ functionCall }, { functionCall }] } },
        { ...event, content: { role: 'user', parts: responses } },
      ],
    });
    const { messages } = await historyOf(service, 's1').load();
    const results = messages.map(({ message: { content } }) =>
      content.map((part) => part.type === 'tool-call' && part.result),
    );
    assert.deepEqual(results, [[undefined], [1, 2]]);
  });

  it('shows what an agent has stored, one message for each invocation', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(KEY);
    const history = historyOf(service, 's1', { storedBy: 'agent' });
    await history.append({ message: message('m1', 'user', [text('not stored')]), parentId: null });
    const invocation = new Invocation({ service, session });
    await invocation.append({
      author: 'user',
      content: { role: 'user', parts: [{ text: 'Tea?' }] },
    });
    const functionCall = { id: 'f1', name: 'find', args: {} };
    await invocation.append({
      author: 'guide',
      content: { role: 'model', parts: [{ functionCall }] },
    });
    const functionResponse = { id: 'f1', name: 'find', response: { result: 3 } };
    await invocation.append({
      author: 'guide',
      content: { role: 'user', parts: [{ functionResponse }] },
    });
    await invocation.append({
      author: 'guide',
      content: { role: 'model', parts: [{ text: 'Three.' }] },
    });
    await service.updateState({ ...KEY, stateDelta: { n: 3 } });
    await service.appendEvent({
      session,
      event: {
        id: 'x',
        invocationId: 'i2',
        author: 'guide',
        errorCode: 'QUOTA',
        errorMessage: 'too much',
      },
    });
    const { messages } = await history.load();
    assert.deepEqual(
      messages.map(({ message, parentId }) => [message.role, message.content, parentId === null]),
      [
        ['user', [text('Tea?')], true],
        [
          'assistant',
          [{ ...answered, toolCallId: 'f1', args: {}, argsText: '{}', result: 3 }, text('Three.')],
          false,
        ],
        ['assistant', [], false],
      ],
    );
    const last = messages[2]?.message;
    assert.deepEqual(last?.role === 'assistant' && last.status, {
      type: 'incomplete',
      reason: 'error',
      error: 'too much',
    });
  });

  it('rejects if the session was deleted, and stores the next message', async () => {
    const service = new InMemorySessionService();
    const history = historyOf(service, 's1');
    const item = { message: message('m1', 'user', [text('hi')]), parentId: null };
    await assert.rejects(history.append(item), { code: 'not_found' });
    await service.createSession(KEY);
    await history.append(item);
    assert.equal((await history.load()).messages.length, 1);
  });

  it('refuses what is no message, with the key, and stores the next message', async () => {
    const service = new InMemorySessionService();
    await service.createSession(KEY);
    const history = historyOf(service, 's1');
    const good = message('m1', 'user', [text('hi')]);
    for (const [given, key] of [
      [null, 'message'],
      [undefined, 'message'],
      ['hi', 'message'],
      [{ ...good, content: undefined }, 'message.content'],
      [{ ...good, content: 'hi' }, 'message.content'],
      [{ ...good, content: [null] }, 'message.content[0]'],
      [{ ...good, role: 'assistant', content: null }, 'message.content'],
      [{ ...good, attachments: null }, 'message.attachments'],
      [{ ...good, attachments: [{ id: 'a' }] }, 'message.attachments[0].content'],
      [{ ...good, metadata: undefined }, 'message.metadata'],
      [{ ...good, createdAt: undefined }, 'event.timestamp'],
    ] as const) {
      const item = { message: given as unknown as typeof good, parentId: null };
      await assert.rejects(history.append(item), { code: 'invalid_argument', key });
      await assert.rejects(history.update(item), { code: 'invalid_argument', key });
    }
    const item = null as unknown as Parameters<typeof history.append>[0];
    await assert.rejects(history.append(item), { code: 'invalid_argument' });
    await history.append({ message: good, parentId: null });
    assert.deepEqual((await history.load()).messages[0]?.message.content, [text('hi')]);
  });

  it('refuses wrong options', async () => {
    const service = new InMemorySessionService();
    const refuse = (options: object, key: string) =>
      assert.throws(() => historyOf(service, 's1', options), { code: 'invalid_argument', key });
    refuse({ storedBy: 'nobody' }, 'storedBy');
    refuse({ userId: '' }, 'userId');
    refuse({ service: {} }, 'service');
    // The messages of this agent would be read as messages of the user.
    for (const agentName of ['user', '', 5, null]) refuse({ agentName }, 'agentName');
    for (const window of [0, -1, 1.5, Number.NaN, '5']) refuse({ window }, 'window');
    const history = historyOf(Promise.resolve({}) as never, 's1');
    await assert.rejects(history.load(), { code: 'invalid_argument', key: 'service' });
  });
});
