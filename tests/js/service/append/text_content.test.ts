import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createEvent, type Event, Invocation } from '../../../../js/index.js';
import { begin, failure, imported, KEY, overStorages, stored } from '../fixture.js';

const SAYS_TEA = { role: 'user', parts: [{ text: 'Tea?' }] };
const ANSWERS = { role: 'model', parts: [{ text: 'Green.' }] };
const NO_CONTENT: unknown[] = [5, true, [], [{ text: 'Tea?' }], () => 'Tea?', Promise.resolve()];

overStorages('A text as the content of an event', (open) => {
  it('becomes the message of its author, on the event of the caller too', async () => {
    const { service, session } = await begin(open);
    const question = { invocationId: 'i1', author: 'user', content: 'Tea?' };
    const appended = await service.appendEvent({ session, event: question });
    assert.deepEqual(appended.content?.parts, SAYS_TEA.parts);
    assert.deepEqual(question.content, SAYS_TEA);
    const answer = { invocationId: 'i1', author: 'guide', content: 'Green.' };
    await service.appendEvents({ session, events: [answer] });
    const { events } = await stored(service);
    assert.deepEqual(
      events.map(({ content }) => content),
      [SAYS_TEA, ANSWERS],
    );
    assert.deepEqual(session.events, events);
    const { id, timestamp } = question as unknown as Event;
    await service.appendEvent({ session, event: { ...question, id, timestamp, content: 'Tea?' } });
    assert.equal((await stored(service)).events.length, 2);
  });

  it('becomes a message among the events of a new session', async () => {
    const service = await open({ autoTitle: true });
    const event = { invocationId: 'i1', author: 'user', content: 'Tea?' };
    const session = await service.createSession(imported({ ...KEY, events: [event] }));
    assert.deepEqual(session.events[0]?.content, SAYS_TEA);
    assert.deepEqual(event.content, SAYS_TEA);
    assert.equal((await service.sessionInfo(KEY))?.title, 'Tea?');
  });

  it('becomes a message in an invocation, with its output', async () => {
    const { service, session } = await begin(open);
    const invocation = new Invocation({ service, session, userContent: 'Tea?' });
    assert.deepEqual(invocation.userContent, SAYS_TEA);
    const context = invocation.context({ agentName: 'guide' });
    const event = await invocation.append({ content: 'Green.' }, { context, outputKey: 'answer' });
    assert.deepEqual(event.content, ANSWERS);
    assert.equal((await stored(service)).state.answer, 'Green.');
    const wrong = { session, userContent: 5 as never, service };
    assert.throws(() => new Invocation(wrong), { code: 'invalid_argument' });
  });

  it('is refused on an event that cannot take the message', async () => {
    const { service, session } = await begin(open);
    const frozen = Object.freeze({ ...createEvent({ author: 'user' }), content: 'Tea?' });
    await failure(service.appendEvent({ session, event: frozen }), 'invalid_argument');
  });

  it('and null are all that may stand in place of an object', async () => {
    const { service, session } = await begin(open);
    for (const content of NO_CONTENT) {
      const event = { ...createEvent(), content: content as never };
      const { key } = await failure(service.appendEvent({ session, event }), 'invalid_argument');
      assert.equal(key, 'event.content');
    }
    await service.appendEvent({ session, event: { ...createEvent(), content: null as never } });
    const { events } = await stored(service);
    assert.deepEqual(
      events.map(({ content }) => content),
      [null],
    );
  });

  it('may be of any type if the event is not stored', async () => {
    const { service, session } = await begin(open);
    const event = { ...createEvent({ partial: true }), content: 5 as never };
    assert.equal(await service.appendEvent({ session, event }), event);
  });
});

it('createEvent takes a text as content', () => {
  const { content } = createEvent({ author: 'user', content: 'Tea?' });
  assert.deepEqual(content, SAYS_TEA);
});
