import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { type Event, InMemorySessionService } from '../../../../js/index.js';
import { liveSession } from '../../../../js/live/index.js';
import { idsOf, isReady, KEY, message, sessionOf, snapshotOf } from '../stores.js';

const answer = { invocationId: 'i2', author: 'guide' };
const contentOf = (text: string) => ({ role: 'model', parts: [{ text }] });
const piece = (text: string) => ({ ...answer, partial: true, content: contentOf(text) });
const whole = (id: string, text: string) => ({ ...answer, id, content: contentOf(text) });

const textsOf = (drafts: readonly { content?: { parts?: { text?: string }[] } }[]) =>
  drafts.map(({ content }) => content?.parts?.[0]?.text);

describe('A draft of a live session', () => {
  it('stays while the event of the answer before it is read', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    await store.send(piece('Let me look.'));
    const sending = store.send(whole('e2', 'Let me look.'));
    assert.deepEqual(store.getSnapshot().drafts, []);
    await store.send(piece('Green'));
    await sending;
    await store.send(piece(' tea'));
    await store.reload();
    stop();
    const { events, drafts } = store.getSnapshot();
    assert.deepEqual(idsOf(events), ['e1', 'e2']);
    assert.deepEqual(textsOf(drafts), ['Green tea']);
  });

  /** Shows a stored answer and a first piece, then replaces the answer beside the store, which reads it. */
  async function replaceAfterPiece(replacement: Partial<Event>) {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    const stored = await store.send(whole('e2', 'Let me look.'));
    await store.send(piece('Green'));
    const event = { ...structuredClone(stored), ...replacement };
    await service.appendEvent({ session, event });
    await snapshotOf(store, ({ events }) => isDeepStrictEqual(events.at(-1), event));
    return { store, stop };
  }

  it('ends when its answer is stored in place of an earlier one', async () => {
    const { store, stop } = await replaceAfterPiece({ content: contentOf('Green tea') });
    assert.deepEqual(store.getSnapshot().drafts, []);
    await store.send(piece('Black'));
    stop();
    assert.deepEqual(textsOf(store.getSnapshot().drafts), ['Black']);
  });

  it('stays when an earlier answer is stored again with the same content', async () => {
    const { store, stop } = await replaceAfterPiece({ customMetadata: { rating: 5 } });
    stop();
    assert.deepEqual(textsOf(store.getSnapshot().drafts), ['Green']);
  });

  it('stays when an event of an earlier invocation is sent again', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const append = service.appendEvent.bind(service);
    service.appendEvent = () => Promise.reject(new Error('offline'));
    await assert.rejects(store.send(message('late')), /offline/);
    service.appendEvent = append;
    await store.send(piece('Green'));
    await store.retry('late');
    await store.send(piece(' tea'));
    assert.deepEqual(textsOf(store.getSnapshot().drafts), ['Green tea']);
  });

  /** Shows a first piece, then stores an event beside the store, which reads it. */
  async function readAfterPiece(event: Partial<Event>) {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    await store.send(piece('Green'));
    await service.appendEvent({ session, event: { ...answer, id: 'e2', ...event } });
    await snapshotOf(store, ({ events }) => events.length === 2);
    return { store, stop };
  }

  const lateEvents = {
    'the state that a callback changes': { actions: { stateDelta: { visits: 1 } } },
    'the response of a tool': {
      content: { role: 'user', parts: [{ functionResponse: { name: 'cups', response: {} } }] },
    },
  };
  for (const [what, event] of Object.entries(lateEvents)) {
    it(`stays when ${what} is read after its first piece`, async () => {
      const { store, stop } = await readAfterPiece(event as Partial<Event>);
      await store.send(piece(' tea'));
      stop();
      assert.deepEqual(textsOf(store.getSnapshot().drafts), ['Green tea']);
    });
  }

  const endings = {
    'the whole answer': whole('e2', 'Green tea'),
    'the call of a tool': { content: { parts: [{ functionCall: { name: 'cups' } }] } },
    'an event without parts': {},
    'an event with a part that is null': { content: { parts: [null] } },
    'an error': { errorCode: 'SAFETY' },
    'an interruption': { interrupted: true },
    'the end of a turn': { turnComplete: true },
  };
  for (const [what, event] of Object.entries(endings)) {
    it(`ends when ${what} is read`, async () => {
      const { store, stop } = await readAfterPiece(event as Partial<Event>);
      const { drafts } = store.getSnapshot();
      stop();
      assert.deepEqual(drafts, []);
    });
  }

  it('does not begin with a piece that comes after its whole event', async () => {
    const { service, session } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, isReady);
    await store.send({ ...piece('Green'), id: 'e2' });
    await service.appendEvent({ session, event: whole('e2', 'Green tea') });
    await snapshotOf(store, ({ events }) => events.length === 2);
    await store.send({ ...piece(' tea'), id: 'e2' });
    stop();
    assert.deepEqual(store.getSnapshot().drafts, []);
  });

  it('joins the halves of an emoji between two pieces', async () => {
    const store = liveSession(new InMemorySessionService(), KEY);
    const shown: (string | undefined)[] = [];
    const [former, latter] = ['🍵'.charAt(0), '🍵'.charAt(1)];
    for (const text of [`tea ${former}`, '', `${latter}!${former}`, `${former}${latter}`, latter]) {
      await store.send(piece(text));
      shown.push(textsOf(store.getSnapshot().drafts)[0]);
    }
    assert.deepEqual(shown, [
      'tea \ufffd',
      'tea \ufffd',
      'tea 🍵!\ufffd',
      'tea 🍵!\ufffd🍵',
      'tea 🍵!\ufffd🍵\ufffd',
    ]);
  });

  it('does not join halves of a thought and of the answer', async () => {
    const store = liveSession(new InMemorySessionService(), KEY);
    const [former, latter] = ['🍵'.charAt(0), '🍵'.charAt(1)];
    const thought = { ...piece(''), content: { parts: [{ text: former, thought: true }] } };
    for (const event of [thought, piece(latter)]) await store.send(event);
    const parts = store.getSnapshot().drafts[0]?.content?.parts?.map(({ text }) => text);
    assert.deepEqual(parts, ['\ufffd', '\ufffd']);
  });

  it('stays while a read finds that the session does not exist yet', async () => {
    const store = liveSession(new InMemorySessionService(), KEY);
    const stop = store.subscribe(() => undefined);
    await store.send(piece('Green'));
    await snapshotOf(store, ({ status }) => status === 'missing');
    await store.send(piece(' tea'));
    assert.deepEqual(textsOf(store.getSnapshot().drafts), ['Green tea']);
    await store.send(whole('e1', 'Green tea'));
    assert.deepEqual(store.getSnapshot().drafts, []);
    await store.send(piece('More'));
    await store.remove();
    stop();
    assert.deepEqual(store.getSnapshot().drafts, []);
  });
});
