import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { rewind } from '../../../../../js/core/history/index.js';
import { mapStorage } from '../../../../../examples/map_storage.js';
import {
  createEventActions,
  type Event,
  InMemorySessionService,
  type NewEvent,
  openSessionService,
  type SessionErrorCode,
  type SessionService,
} from '../../../../../js/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { idsOf, KEY, snapshotOf, textOf } from '../stores.js';
import { failsWith } from '../../../fails_with.js';

const said = (author: string, invocationId: string, text: string): NewEvent => ({
  id: text,
  invocationId,
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
});

/** Turns of a question and an answer, in one invocation. */
const turn = (id: string): NewEvent[] => [said('user', id, `${id}?`), said('guide', id, `${id}!`)];

async function conversation(service: SessionService, ...ids: string[]) {
  const session = await service.createSession({ ...KEY, state: { cups: 0 } });
  await service.appendEvents({ session, events: ids.flatMap(turn) });
  return session;
}

const textsOf = (events: readonly Event[]): (string | undefined)[] => events.map(textOf);

const stored = async (service: SessionService, view: 'raw' | 'transcript') =>
  (await service.getSession({ ...KEY, config: { view } }))?.events ?? [];

const black = { role: 'user', parts: [{ text: 'black?' }] };

for (const isWatched of [false, true]) {
  describe(`A live session that is ${isWatched ? '' : 'not '}watched`, () => {
    async function open(...ids: string[]) {
      const service = new InMemorySessionService({ autoTitle: true });
      const session = await conversation(service, ...ids);
      const chat = liveSession(service, KEY);
      const stop = isWatched ? chat.subscribe(() => undefined) : () => undefined;
      await chat.load();
      return { service, session, chat, stop };
    }

    it('edits a message: its turn and all later ones are another branch', async () => {
      const { service, session, chat, stop } = await open('green', 'more');
      const actions = createEventActions({ stateDelta: { cups: 2 } });
      await service.appendEvent({ session, event: { invocationId: 'more', actions } });
      const message = await chat.edit('more?', black);
      assert.equal(textOf(message), 'black?');
      const { events, state } = chat.getSnapshot();
      assert.deepEqual(textsOf(events), ['green?', 'green!', 'black?']);
      assert.equal(state.cups, 0);
      assert.equal(events.at(-1)?.id, message.id);
      assert.notEqual(message.invocationId, 'more');
      const [marker, last] = (await stored(service, 'raw')).slice(-2);
      assert.deepEqual(last, message);
      assert.ok((marker?.timestamp ?? Infinity) < message.timestamp, 'Python orders by time');
      stop();
    });

    it('regenerates an answer several times, and switches between the answers', async () => {
      const { service, chat, stop } = await open('green', 'more');
      const regenerate = async (eventId: string, text: string): Promise<void> => {
        const { invocationId, content } = await chat.regenerate(eventId);
        assert.deepEqual(content, { role: 'user', parts: [{ text: 'more?' }] });
        await chat.send(said('guide', invocationId, text));
      };
      await regenerate('more!', 'second');
      await regenerate('second', 'third');
      assert.deepEqual(await stored(service, 'transcript').then(textsOf), [
        ...['green?', 'green!', 'more?', 'third'],
      ]);
      const [place, ...others] = await chat.branches();
      assert.deepEqual(others, []);
      assert.equal(place?.after, 'green');
      const shown = place.alternatives.map(({ isShown }) => isShown);
      assert.deepEqual(shown, [false, false, true]);
      await chat.switchBranch(place.alternatives[0]!.branch!);
      const texts = textsOf(chat.getSnapshot().events);
      assert.deepEqual(texts, ['green?', 'green!', 'more?', 'more!']);
      const [again] = await chat.branches();
      assert.deepEqual(
        again?.alternatives.map(({ isShown }) => isShown),
        [true, false, false],
      );
      stop();
    });

    it('sends the message again if the answer has an invocation of its own', async () => {
      const { service, session, chat, stop } = await open();
      const events = [said('user', 'i1', 'tea?'), said('guide', 'i2', 'green')];
      await service.appendEvents({ session, events });
      const message = await chat.regenerate('green');
      assert.notEqual(message.id, 'tea?');
      assert.deepEqual(chat.getSnapshot().events, [message]);
      assert.equal(textOf(message), 'tea?');
      assert.equal((await stored(service, 'raw')).length, 4);
      stop();
    });

    it('keeps a title that came from the edited message', async () => {
      const { service, chat, stop } = await open('green', 'more');
      await chat.edit('green?', black);
      assert.equal((await service.getSession(KEY))?.title, 'green?');
      stop();
    });

    it('stores events of a turn that is shown again', async () => {
      const { chat, stop } = await open('green', 'more');
      await chat.edit('more?', black);
      const [place] = await chat.branches();
      await chat.switchBranch(place!.alternatives[0]!.branch!);
      await chat.send(said('guide', 'more', 'once more'));
      assert.equal(textOf(chat.getSnapshot().events.at(-1)), 'once more');
      stop();
    });

    it('refuses unknown events and branches and wrong messages, and writes nothing', async () => {
      const { service, chat, stop } = await open('green');
      const refused: [call: () => Promise<unknown>, code: SessionErrorCode][] = [
        [() => chat.edit('none', black), 'not_found'],
        [() => chat.edit('green!', black), 'invalid_argument'],
        [() => chat.edit('green?', 5 as never), 'invalid_argument'],
        [() => chat.edit('green?', { parts: [{ n: 1n }] } as never), 'unserializable'],
        [() => chat.regenerate('none'), 'not_found'],
        [() => chat.switchBranch('none'), 'not_found'],
        [() => liveSession(service, { ...KEY, sessionId: 'none' }).branches(), 'not_found'],
      ];
      for (const [call, code] of refused) await assert.rejects(call, failsWith(code));
      assert.equal((await stored(service, 'raw')).length, 2);
      stop();
    });
  });
}

describe('A live session', () => {
  it('refuses events of a turn that another tab has undone', async () => {
    const service = new InMemorySessionService();
    await conversation(service, 'green', 'more');
    const chat = liveSession(service, KEY);
    const stop = chat.subscribe(() => undefined);
    await chat.load();
    await rewind(service, { ...KEY, before: { invocationId: 'more' } });
    await snapshotOf(chat, ({ events }) => events.length === 2);
    const sent = chat.send(said('guide', 'more', 'too late'));
    await assert.rejects(sent, failsWith('stale_session'));
    stop();
  });

  it('refuses events of an undone turn before it has read the rewind', async () => {
    const service = new InMemorySessionService();
    await conversation(service, 'green');
    const chat = liveSession(service, KEY);
    await chat.load();
    await chat.send(said('user', 'more', 'more?'));
    await rewind(service, { ...KEY, before: { invocationId: 'more' } });
    const sent = chat.send(said('guide', 'more', 'too late'));
    await assert.rejects(sent, failsWith('stale_session'));
    assert.deepEqual(textsOf(await stored(service, 'transcript')), ['green?', 'green!']);
  });

  it('stores marker and message in one step', async () => {
    const storage = mapStorage();
    const service = await openSessionService({ storage });
    await conversation(service, 'green');
    const chat = liveSession(service, KEY);
    const { append } = storage;
    const sizes: number[] = [];
    storage.append = (request, decide) => {
      sizes.push(request.eventIds.length);
      return append.call(storage, request, decide);
    };
    await chat.edit('green?', black);
    assert.deepEqual(sizes, [2]);
  });

  it('reads its branches once, until they may have changed', async () => {
    const service = new InMemorySessionService();
    const session = await conversation(service, 'green', 'more');
    const chat = liveSession(service, KEY);
    const stop = chat.subscribe(() => undefined);
    await chat.load();
    assert.deepEqual(await chat.branches(), []);
    await rewind(service, { ...KEY, before: { invocationId: 'more' } });
    await snapshotOf(chat, ({ events }) => events.length === 2);
    const [open] = await chat.branches();
    assert.deepEqual(
      open?.alternatives.map(({ isShown }) => isShown),
      [false],
    );
    await service.appendEvents({ session, events: turn('other') });
    await snapshotOf(chat, ({ events }) => idsOf(events).includes('other!'));
    const places = await chat.branches();
    assert.deepEqual(
      places[0]?.alternatives.map(({ isShown }) => isShown),
      [false, true],
    );
    await service.appendEvents({ session, events: turn('next') });
    await snapshotOf(chat, ({ events }) => idsOf(events).includes('next!'));
    assert.equal(await chat.branches(), places);
    await chat.reload();
    assert.equal(await chat.branches(), places);
    stop();
  });
});
