import assert from 'node:assert/strict';

import { rewind, undoRewind } from '../../../../js/core/history/index.js';
import {
  type CompositeSessionKey,
  createEventActions,
  type Event,
  type SessionService,
} from '../../../../js/index.js';

const idsOf = (events: readonly Event[] = []): string[] => events.map(({ id }) => id);

/** Stores a session of three turns, of which the second was undone. */
export async function rewindIn(service: SessionService, key: CompositeSessionKey): Promise<void> {
  const session = await service.createSession({ ...key, state: { turn: 0 } });
  const say = async (turn: number) => {
    const event = { id: `e${turn}`, invocationId: `i${turn}`, author: 'user' };
    const actions = createEventActions({ stateDelta: { turn, [`only ${turn}`]: true } });
    await service.appendEvent({ session, event: { ...event, actions } });
  };
  await say(1);
  await say(2);
  await rewind(service, { ...key, before: { invocationId: 'i2' } });
  await say(3);
}

/** Requires that a copy of the session of {@link rewindIn} has its events, and undoes the rewind. */
export async function requireRewound(
  service: SessionService,
  key: CompositeSessionKey,
): Promise<void> {
  const stored = (await service.getSession(key))!;
  const [first, second, marker, third] = stored.events;
  assert.deepEqual(idsOf(stored.events), ['e1', 'e2', marker!.id, 'e3']);
  assert.equal(second?.invocationId, 'i2');
  const config = { view: 'transcript' } as const;
  const transcript = (await service.getSession({ ...key, config }))!;
  assert.deepEqual(idsOf(transcript.events), [first!.id, third!.id]);
  await undoRewind(service, key);
  const { events, state } = (await service.getSession({ ...key, config }))!;
  assert.deepEqual(idsOf(events), ['e1', 'e2']);
  assert.deepEqual(state, { turn: 2, 'only 1': true, 'only 2': true });
}
