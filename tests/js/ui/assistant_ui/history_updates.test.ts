import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { answered, historyOf, message, reloaded, text } from './threads.js';

describe('A message of a thread that is stored again', () => {
  it('replaces the stored one, in its place', async () => {
    const status = { type: 'requires-action', reason: 'tool-calls' };
    const waiting = message('m1', 'assistant', [answered], { status });
    const { loaded, service } = await reloaded(waiting, message('m2', 'user', [text('later')]));
    const [{ message: first } = assert.fail()] = loaded.messages;
    assert.deepEqual(first.role === 'assistant' && first.status, status);
    const content = [{ ...answered, result: 5 }, text('Five.')];
    const done = message('m1', 'assistant', content);
    await historyOf(service, 's1').update({ message: done, parentId: null });
    const { messages } = await historyOf(service, 's1').load();
    assert.deepEqual(
      messages.map(({ message }) => message.id),
      ['m1', 'm2'],
    );
    assert.deepEqual(messages[0]?.message.content, done.content);
    assert.deepEqual(
      messages[0]?.message.role === 'assistant' && messages[0].message.status.type,
      'complete',
    );
  });

  it('gets the late result of its own call, also if another branch has a call of that id', async () => {
    const { service } = await reloaded(message('q', 'user', [text('Tea?')]));
    const history = historyOf(service, 's1');
    const waiting = message('a', 'assistant', [answered]);
    for (const id of ['a', 'again']) {
      await history.append({ message: { ...waiting, id }, parentId: 'q' });
    }
    const done = { ...waiting, content: [{ ...answered, result: 5 }] };
    await history.update({ message: done, parentId: 'q' });
    const { messages } = await history.load();
    assert.deepEqual(
      messages.map(({ message, parentId }) => [message.id, parentId, message.content]),
      [
        ['q', null, [text('Tea?')]],
        ['a', 'q', done.content],
        ['again', 'q', [answered]],
      ],
    );
  });

  it('has none of the parts that it has no more', async () => {
    const { service } = await reloaded(
      message('m1', 'user', [text('Tea?')]),
      message('m2', 'assistant', [{ ...answered, result: 1 }, text('One.')]),
      message('m3', 'user', [text('And now?')]),
    );
    const history = historyOf(service, 's1');
    await history.update({ message: message('m2', 'assistant', [text('None.')]), parentId: 'm1' });
    const { messages } = await history.load();
    assert.deepEqual(
      messages.map(({ message }) => [message.id, message.content]),
      [
        ['m1', [text('Tea?')]],
        ['m2', [text('None.')]],
        ['m3', [text('And now?')]],
      ],
    );
  });

  it('reads a session only from the first event of the message on', async () => {
    const { service } = await reloaded();
    const history = historyOf(service, 's1');
    const content = [{ ...answered, result: 1 }, text('One.')];
    for (let index = 0; index < 300; index += 1) {
      const parentId = index === 0 ? null : `m${index - 1}`;
      await history.append({ message: message(`m${index}`, 'assistant', content), parentId });
    }
    const counts: number[] = [];
    const read = service.getSession.bind(service);
    service.getSession = async (request) => {
      const session = await read(request);
      counts.push(session?.events.length ?? 0);
      return session;
    };
    const updated = async (id: string) => {
      counts.length = 0;
      await history.update({ message: message(id, 'assistant', [text('None.')]), parentId: null });
      const read = [...counts];
      const { messages } = await history.load();
      return [read, messages.find(({ message }) => message.id === id)?.message.content];
    };
    // Each message has three events.
    assert.deepEqual(await updated('m299'), [[32], [text('None.')]]);
    assert.deepEqual(await updated('m289'), [[32, 128], [text('None.')]]);
    assert.deepEqual(await updated('m0'), [[32, 128, 512, 900], [text('None.')]]);
    assert.deepEqual(await updated('unknown'), [[32, 128, 512, 900], [text('None.')]]);
  });
});
