import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { overtake } from '../../core/history/writes/overtaken.js';
import { rewind } from '../../../../js/core/history/index.js';
import {
  InMemorySessionService,
  type NewEvent,
  type SessionService,
} from '../../../../js/index.js';
import { historyOf, KEY, message, text } from './threads.js';

const item = (id: string, parentId: string | null) => ({
  message: message(id, id.startsWith('q') ? 'user' : 'assistant', [text(id)]),
  parentId,
});

async function transcript(service: SessionService): Promise<string[]> {
  const session = await service.getSession({ ...KEY, config: { view: 'transcript' } });
  return (session?.events ?? []).map(({ id }) => id);
}

async function thread() {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...KEY, state: { cups: 0 } });
  return { service, session, history: historyOf(service, 's1') };
}

describe('The history of a thread', () => {
  it('lets agents read the branch of the last message, whatever its parent is', async () => {
    const parents = fc.array(fc.nat(12), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(parents, async (parents) => {
        const { service, history } = await thread();
        const paths: string[][] = [[]];
        const given: [string, string | null][] = [];
        for (const [number, pick] of parents.entries()) {
          const path = paths[pick % paths.length]!;
          const id = `${path.length % 2 === 0 ? 'q' : 'a'}${number}`;
          const parentId = path.at(-1) ?? null;
          await history.append(item(id, parentId));
          paths.push([...path, id]);
          given.push([id, parentId]);
          assert.deepEqual(await transcript(service), [...path, id]);
        }
        const { messages, headId } = await historyOf(service, 's1').load();
        assert.deepEqual(
          messages.map(({ message, parentId }) => [message.id, parentId]),
          given,
        );
        assert.equal(headId, given.at(-1)?.[0]);
      }),
      { numRuns: 50 },
    );
  });

  it('switches to the branch of a message that an event without an invocation follows', async () => {
    const { service, session, history } = await thread();
    await history.append(item('q1', null));
    await service.appendEvent({ session, event: { author: 'system', invocationId: '' } });
    await history.append(item('a1', 'q1'));
    await history.append(item('a2', 'q1'));
    const { headId, messages } = await historyOf(service, 's1').load();
    assert.deepEqual(
      messages.map(({ message, parentId }) => [message.id, parentId]),
      [
        ['q1', null],
        ['a1', 'q1'],
        ['a2', 'q1'],
      ],
    );
    assert.equal(headId, 'a2');
    assert.deepEqual((await transcript(service)).at(-1), 'a2');
    assert.ok(!(await transcript(service)).includes('a1'));
  });

  it('stores the rewind and the message in one step, with growing times', async () => {
    const { service, history } = await thread();
    await service.updateState({ ...KEY, stateDelta: { cups: 1 } });
    await history.append(item('q1', null));
    await service.updateState({ ...KEY, stateDelta: { cups: 2 } });
    const sizes: number[] = [];
    await overtake(service, ({ length }) => sizes.push(length));
    await history.append(item('q2', null));
    assert.deepEqual(sizes, [2]);
    const { events = [], state } = (await service.getSession(KEY)) ?? {};
    assert.deepEqual(state, { cups: 1 });
    const times = events.slice(-2).map(({ timestamp }) => timestamp);
    assert.ok(times.every((time, at) => time > events.at(at - 3)!.timestamp));
  });

  it('shows the branch that another program has rewound to, and none of its undone messages', async () => {
    const { service, session, history } = await thread();
    await history.append(item('q1', null));
    await history.append(item('a1', 'q1'));
    const said = (id: string): NewEvent => ({
      id,
      invocationId: `i-${id}`,
      author: 'python',
      content: { role: 'model', parts: [{ text: id }] },
    });
    await service.appendEvent({ session, event: said('p1') });
    await rewind(service, { ...KEY, before: { eventId: 'a1' } });
    await service.appendEvent({ session, event: said('p2') });
    const { messages, headId } = await history.load();
    const shown = messages.map(({ message, parentId }) => [message.id, parentId]);
    assert.deepEqual(shown, [
      ['q1', null],
      ['a1', 'q1'],
      ['p2', 'q1'],
    ]);
    assert.equal(headId, 'p2');
    await history.append(item('q3', 'p2'));
    assert.deepEqual(await transcript(service), ['q1', 'p2', 'q3']);
    await history.append(item('q4', 'a1'));
    assert.deepEqual(await transcript(service), ['q1', 'a1', 'q4']);
  });

  it('reads a thread whose answers share the invocation of their question', async () => {
    const { service, session, history } = await thread();
    const stored = (id: string, parentId: string | null, invocationId: string): NewEvent => ({
      id,
      invocationId,
      author: id.startsWith('q') ? 'user' : 'assistant',
      content: { parts: [{ text: id }] },
      customMetadata: { assistantUi: { messageId: id, parentId } },
    });
    const events = [
      stored('q1', null, 'e-q1'),
      stored('a1', 'q1', 'e-q1'),
      stored('a2', 'q1', 'e-q1'),
      stored('q2', 'a2', 'e-q2'),
    ];
    await service.appendEvents({ session, events });
    const before = await history.load();
    assert.deepEqual(
      before.messages.map(({ message, parentId }) => [message.id, parentId]),
      [
        ['q1', null],
        ['a1', 'q1'],
        ['a2', 'q1'],
        ['q2', 'a2'],
      ],
    );
    // The question cannot be kept without the answers.
    await history.append(item('a3', 'q1'));
    await history.append(item('q3', 'a3'));
    const { messages, headId } = await history.load();
    assert.equal(messages.length, 6);
    assert.equal(headId, 'q3');
    await history.append(item('q4', null));
    assert.deepEqual(await transcript(service), ['q4']);
  });
});
