import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError } from '../../../../js/values/errors/errors.js';
import { isSummarised } from '../../../../js/values/model/event/markers.js';
import {
  branches,
  rewind,
  stateAt,
  switchBranch,
  undoRewind,
} from '../../../../js/core/history/index.js';
import { createEventActions, type Event, InMemorySessionService } from '../../../../js/index.js';
import { liveSession } from '../../../../js/ui/live/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import type { SessionHandlerOptions } from '../../../../js/server/index.js';
import { overtake } from '../../core/history/writes/overtaken.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from './fixture.js';

/** A remote service of a user without rights, with a session of the turns `i1` and `i2`. */
async function openTurns(options: Partial<SessionHandlerOptions> = {}) {
  const service = new InMemorySessionService();
  const handler = handlerOn(service, { authorize: () => true, ...options });
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch: fetchFrom(handler) });
  const session = await remote.createSession({ ...KEY, state: { initial: 0 } });
  for (const [number, id] of ['i1', 'i2'].entries()) {
    const content = { role: 'user', parts: [{ text: id }] };
    const actions = createEventActions({ stateDelta: { initial: number + 1, [id]: true } });
    const event = { id, invocationId: id, author: 'user', content, actions };
    await remote.appendEvent({ session, event });
  }
  const transcript = async () => {
    const read = await service.getSession({ ...KEY, config: { view: 'transcript' } });
    return read?.events.map(({ id }) => id);
  };
  const state = async () => (await service.getSession(KEY))?.state;
  return { remote, service, transcript, state };
}

describe('The history over HTTP', () => {
  it('is rewound, switched and undone by a user without rights', async () => {
    const { remote, transcript, state } = await openTurns();
    const { event, unknownKeys } = await rewind(remote, { ...KEY, before: { eventId: 'i2' } });
    assert.deepEqual(unknownKeys, []);
    assert.deepEqual(await transcript(), ['i1']);
    assert.deepEqual(await state(), { initial: 1, i1: true });

    const [turn] = await branches(remote, KEY);
    assert.deepEqual(turn, {
      after: 'i1',
      alternatives: [{ invocationId: 'i2', isShown: false, branch: event.invocationId }],
    });
    await switchBranch(remote, { ...KEY, branch: event.invocationId });
    assert.deepEqual(await transcript(), ['i1', 'i2']);
    assert.deepEqual(await state(), { initial: 2, i1: true, i2: true });

    await undoRewind(remote, KEY);
    assert.deepEqual(await transcript(), ['i1']);
    const { state: before } = await stateAt(remote, { ...KEY, eventId: 'i1' });
    assert.deepEqual(before, { initial: 1, i1: true });
  });

  it('is shown by the server, which sends no undone events, and names what a summary stands for', async () => {
    const { service } = await openTurns();
    const urls: string[] = [];
    const fetch = fetchFrom(handlerOn(service));
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (input, init) => {
        urls.push(new Request(input, init).url);
        return fetch(input, init);
      },
    });
    await rewind(remote, { ...KEY, before: { invocationId: 'i2' } });
    const session = (await service.getSession(KEY))!;
    const [{ timestamp }] = session.events as [Event];
    const compactedContent = { role: 'model', parts: [{ text: 'Of i1.' }] };
    const compaction = { startTimestamp: timestamp, endTimestamp: timestamp, compactedContent };
    const actions = { ...createEventActions(), compaction };
    await service.appendEvent({
      session,
      event: { id: 'c', invocationId: 'c', author: 'user', actions },
    });
    await service.appendEvent({ session, event: { id: 'e3', invocationId: 'i3', author: 'user' } });

    urls.length = 0;
    const config = { view: 'transcript', numRecentEvents: 2 } as const;
    const read = (await remote.getSession({ ...KEY, config }))!;
    assert.deepEqual(
      read.events.map((event) => [event.id, isSummarised(event)]),
      [
        ['i1', true],
        ['e3', false],
      ],
    );
    assert.equal(urls.length, 1);
    assert.match(urls[0] ?? '', /numRecentEvents=2&view=transcript/);
    const older = (await remote.getSession({ ...KEY, config: { ...config, numRecentEvents: 1 } }))!;
    assert.equal(await remote.loadOlder(older, 1), false);
    assert.deepEqual(older.events.map(isSummarised), [true, false]);
    const model = await remote.getSession({ ...KEY, config: { ...config, view: 'model' } });
    assert.deepEqual(
      model?.events.map(({ id }) => id),
      ['adk-view:c', 'e3'],
    );
  });

  it('is rewound again if somebody appends meanwhile', async () => {
    const { remote, service, transcript } = await openTurns();
    let others = 2;
    await overtake(service, async () => {
      if (others > 0) await service.updateState({ ...KEY, stateDelta: { others: (others -= 1) } });
    });
    await rewind(remote, { ...KEY, before: { invocationId: 'i1' } });
    assert.equal(others, 0);
    assert.deepEqual(await transcript(), []);
  });

  it('has an edited message in one append with the marker', async () => {
    const { remote, service, transcript } = await openTurns();
    const before = (await service.getSession(KEY))!.events.length;
    const store = liveSession(remote, KEY);
    const { id } = await store.edit('i2', { role: 'user', parts: [{ text: 'black tea?' }] });
    assert.deepEqual(await transcript(), ['i1', id]);
    assert.equal((await service.getSession(KEY))!.events.length, before + 2);
  });

  it('refuses an event of a run that was undone meanwhile', async () => {
    const { remote, transcript } = await openTurns();
    const session = (await remote.getSession(KEY))!;
    await rewind(remote, { ...KEY, before: { invocationId: 'i2' } });
    const late = { id: 'late', invocationId: 'i2', author: 'user' };
    await assert.rejects(remote.appendEvent({ session, event: late }), (error) =>
      isSessionError(error, 'stale_session'),
    );
    assert.deepEqual(await transcript(), ['i1']);
  });

  it('is not rewound if authorize refuses the action', async () => {
    const refusing = {
      authorize: (_: unknown, { action }: { action: string }) => action !== 'rewind',
    };
    const { remote, transcript } = await openTurns(refusing);
    await assert.rejects(rewind(remote, { ...KEY, before: { invocationId: 'i2' } }), (error) => {
      return isSessionError(error, 'remote') && error.status === 403;
    });
    assert.deepEqual(await transcript(), ['i1', 'i2']);
  });
});
