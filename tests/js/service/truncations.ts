// Appends that first remove the end of a history, over any storage whose store can do that.

import assert from 'node:assert/strict';

import {
  createEvent,
  type Event,
  isSessionError,
  type Session,
  type StateShape,
  type StoredSessionService,
} from '../../../js/index.js';
import { snapshotEvent } from '../../../js/model/event/snapshot.js';
import { replaceEnd } from '../../../js/service/replace_end.js';
import { CORE } from '../../../js/service/service_core.js';
import type { TruncatingRequest } from '../../../js/storage/session_store.js';
import { STALE_POLICIES } from '../../../js/wasm/protocol.js';

type Service = StoredSessionService;

/** What a test says of such an append. */
export interface Replacement {
  readonly after: number;
  readonly events?: readonly Event[];
  readonly delta?: StateShape;
  readonly expectedRevision?: number;
}

const KEY = { appName: 'cuts', userId: 'ada' };

export const event = (id: string, text = id, stateDelta: StateShape = {}): Event =>
  createEvent({
    id,
    invocationId: 'i',
    author: 'user',
    timestamp: 1_700_000_000_000,
    content: { role: 'user', parts: [{ text }] },
    actions: { stateDelta },
  });

export const events = (prefix: string, count: number, from = 0): Event[] =>
  Array.from({ length: count }, (_, index) => event(`${prefix}${from + index}`));

/** Appends after it has removed the end of a session's history. Returns the session's revision. */
export async function replace(
  service: Service,
  sessionId: string,
  { after, events = [], delta = {}, expectedRevision }: Replacement,
): Promise<number> {
  const request: TruncatingRequest = {
    key: { ...KEY, sessionId },
    position: { created: -1, revision: 0, lastEventId: undefined },
    policy: STALE_POLICIES.append,
    expectedRevision,
    events: events.map((event) => snapshotEvent(event, Date.now, () => 'unused')),
    now: Date.now(),
    truncateAfter: after,
    delta: JSON.stringify(delta),
  };
  const [, revision] = await replaceEnd(service[CORE], request);
  return revision;
}

const create = (service: Service, sessionId: string, state: StateShape = {}): Promise<Session> =>
  service.createSession({ ...KEY, sessionId, state });

async function open(service: Service, sessionId: string): Promise<Session> {
  const session = await service.getSession({ ...KEY, sessionId });
  assert.ok(session);
  return session;
}

const idsOf = (session: Pick<Session, 'events'>): string[] => session.events.map(({ id }) => id);
const ids = (prefix: string, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${from + index}`);

/** The tests, by name. Each uses a session of its own. */
export const TRUNCATIONS: Readonly<Record<string, (service: Service) => Promise<void>>> = {
  async 'a replaced end is what readers see'(service) {
    const session = await create(service, 'end', { own: 1, 'user:mood': 'calm', 'app:house': 1 });
    await service.appendEvents({ session, events: events('a', 5) });
    const base = service.revisionOf(session)!;
    await service.appendEvents({
      session,
      events: [event('mine1', 'm', { own: 2 }), event('mine2')],
    });
    const revision = await replace(service, 'end', {
      after: base,
      events: [
        event('theirs', 't', { own: 8 }),
        event('mine1', 'm', { own: 9 }),
        event('a2', 'new'),
      ],
      delta: { own: 3, more: [1], 'user:mood': '__ADK_SENTINEL_REMOVED__', 'app:house': 2 },
    });
    const read = await open(service, 'end');
    assert.deepEqual(idsOf(read), [...ids('a', 5), 'theirs', 'mine1']);
    assert.equal(read.events[2]?.content?.parts?.[0]?.text, 'new');
    assert.deepEqual(read.state, { own: 3, more: [1], 'app:house': 2 });
    assert.equal(service.revisionOf(read), revision);
    assert.ok(revision > service.revisionOf(session)!);
  },

  async 'a long history is cut in its middle'(service) {
    const session = await create(service, 'middle');
    await service.appendEvents({ session, events: events('a', 300) });
    const { events: changed = [] } = await service.listChanges({
      ...KEY,
      sessionId: 'middle',
      since: (await service.listChanges({ ...KEY, sessionId: 'middle', since: 0 })).created,
    });
    for (const length of [257, 200, 128, 127, 3, 1]) {
      await replace(service, 'middle', { after: changed[length - 1]!.seq });
      assert.deepEqual(idsOf(await open(service, 'middle')), ids('a', length));
    }
    // Removed ids are free again.
    const last = await replace(service, 'middle', {
      after: changed[0]!.seq,
      events: events('a', 300),
    });
    assert.deepEqual(idsOf(await open(service, 'middle')), ids('a', 300));
    const info = await service.sessionInfo({ ...KEY, sessionId: 'middle' });
    assert.equal(info.eventCount, 300);
    await replace(service, 'middle', { after: last, events: [event('end')] });
    assert.equal((await open(service, 'middle')).events.length, 301);
  },

  async 'windows, pages and changes follow the cut'(service) {
    const session = await create(service, 'windows');
    await service.appendEvents({ session, events: events('a', 200) });
    const base = service.revisionOf(session)!;
    await service.appendEvents({ session, events: events('b', 40) });
    const revision = await replace(service, 'windows', { after: base, events: events('c', 30) });
    const key = { ...KEY, sessionId: 'windows' };
    const window = await service.getSession({ ...key, config: { numRecentEvents: 35 } });
    assert.deepEqual(idsOf(window!), [...ids('a', 5, 195), ...ids('c', 30)]);
    const page = await service.listEvents({ ...key, limit: 50 });
    assert.deepEqual(idsOf(page), [...ids('a', 20, 180), ...ids('c', 30)]);
    const older = await service.listEvents({ ...key, limit: 50, before: page.before! });
    assert.deepEqual(idsOf(older), ids('a', 50, 130));
    const changes = await service.listChanges({ ...key, since: base });
    assert.deepEqual(
      changes.events?.map(({ event }) => event.id),
      ids('c', 30),
    );
    assert.equal(changes.revision, revision);
    const since = await service.listChanges({ ...key, since: revision });
    assert.deepEqual(since.events, []);
  },

  async 'a removal alone is a change'(service) {
    const session = await create(service, 'alone', { own: 1 });
    await service.appendEvents({ session, events: events('a', 3) });
    const before = service.revisionOf(session)!;
    const revision = await replace(service, 'alone', { after: 0 });
    assert.ok(revision > before);
    const read = await open(service, 'alone');
    assert.deepEqual([read.events, read.state], [[], { own: 1 }]);
    // Nothing is left to remove.
    assert.equal(await replace(service, 'alone', { after: revision }), revision);
    assert.ok((await replace(service, 'alone', { after: revision, delta: { own: 2 } })) > revision);
    assert.deepEqual((await open(service, 'alone')).state, { own: 2 });
    await service.appendEvents({ session, events: [event('next')] });
    assert.deepEqual(idsOf(await open(service, 'alone')), ['next']);
  },

  async 'a whole copy is replaced'(service) {
    const session = await create(service, 'whole', { begun: true });
    await service.updateSession(
      { ...KEY, sessionId: 'whole' },
      { title: 'Tea', labels: { a: 'b' } },
    );
    await service.appendEvents({ session, events: events('a', 10) });
    const key = { ...KEY, sessionId: 'whole' };
    const before = await service.listChanges({ ...key, since: service.revisionOf(session)! });
    await replace(service, 'whole', {
      after: 0,
      events: events('a', 4, 6),
      delta: { begun: false },
    });
    const read = await open(service, 'whole');
    assert.deepEqual(idsOf(read), ids('a', 4, 6));
    assert.deepEqual([read.title, read.labels, read.state], ['Tea', { a: 'b' }, { begun: false }]);
    const after = await service.listChanges({ ...key, since: before.revision });
    assert.equal(after.created, before.created);
    const info = await service.sessionInfo(key);
    assert.equal(info.eventCount, 4);
    assert.equal(info.initialState, undefined);
    const sessions = await service.listSessions({ ...KEY });
    assert.ok(sessions.sessions.some(({ id, title }) => id === 'whole' && title === 'Tea'));
  },

  async 'another revision than the expected one changes nothing'(service) {
    const session = await create(service, 'stale', { own: 1 });
    await service.appendEvents({ session, events: events('a', 3) });
    const base = service.revisionOf(session)!;
    const other = await open(service, 'stale');
    await service.appendEvents({ session: other, events: [event('other')] });
    const refused = replace(service, 'stale', {
      after: 0,
      events: [event('mine')],
      delta: { own: 2 },
      expectedRevision: base,
    });
    await assert.rejects(refused, (error) => isSessionError(error, 'stale_session'));
    const read = await open(service, 'stale');
    assert.deepEqual([idsOf(read), read.state], [[...ids('a', 3), 'other'], { own: 1 }]);
    const expectedRevision = service.revisionOf(read)!;
    await replace(service, 'stale', { after: base, events: [event('mine')], expectedRevision });
    assert.deepEqual(idsOf(await open(service, 'stale')), [...ids('a', 3), 'mine']);
  },

  async 'appends of others at the same time are not lost'(service) {
    const session = await create(service, 'race');
    await service.appendEvents({ session, events: events('a', 3) });
    const base = service.revisionOf(session)!;
    const [others, replaced] = await Promise.allSettled([
      service.appendEvents({ session: await open(service, 'race'), events: events('o', 5) }),
      replace(service, 'race', { after: base, events: [event('mine')], expectedRevision: base }),
    ]);
    assert.equal(others.status, 'fulfilled');
    const expected = replaced.status === 'fulfilled' ? ['mine', ...ids('o', 5)] : ids('o', 5);
    assert.deepEqual(idsOf(await open(service, 'race')), [...ids('a', 3), ...expected]);
    if (replaced.status === 'rejected') {
      assert.ok(isSessionError(replaced.reason, 'stale_session'));
    }
  },

  async 'an open handle gets what it missed, and keeps what it has in its place'(service) {
    const session = await create(service, 'handle', { own: 1 });
    await service.appendEvents({
      session,
      events: [...events('a', 3), event('mine1'), event('mine2')],
    });
    const { state, events: given } = session;
    const [base] = await Promise.all([
      service.listChanges({ ...KEY, sessionId: 'handle', since: 0 }),
    ]);
    await replace(service, 'handle', {
      after: service.revisionOf(session)! - 2,
      events: [event('theirs', 't', { own: 2 }), event('mine2'), event('mine1', 'again')],
      delta: { own: 2 },
    });
    await service.appendEvents({ session, events: [event('next')] });
    assert.ok(base.revision < service.revisionOf(session)!);
    assert.equal(session.state, state);
    assert.equal(session.events, given);
    assert.deepEqual(idsOf(session), [...ids('a', 3), 'mine1', 'mine2', 'theirs', 'next']);
    assert.equal(session.events[3]?.content?.parts?.[0]?.text, 'again');
    assert.deepEqual(session.state, { own: 2 });
    const stored = [...ids('a', 3), 'theirs', 'mine2', 'mine1', 'next'];
    assert.deepEqual(idsOf(await open(service, 'handle')), stored);
  },

  async 'watchers get an ordinary notice'(service) {
    const session = await create(service, 'watched');
    await service.appendEvents({ session, events: events('a', 3) });
    const key = { ...KEY, sessionId: 'watched' };
    const notices = service.watch(key);
    const revision = await replace(service, 'watched', { after: 0 });
    const { value } = await notices.next();
    await notices.return?.();
    const expected = { type: 'appended', ...key, revision, scopes: [] };
    assert.deepEqual({ ...value }, expected);
  },

  async 'a session that does not exist is not found'(service) {
    const replaced = replace(service, 'never', { after: 0, events: events('a', 1) });
    await assert.rejects(replaced, (error) => isSessionError(error, 'not_found'));
  },

  async 'ten thousand events are replaced'(service) {
    const session = await create(service, 'many');
    await service.appendEvents({ session, events: events('a', 100) });
    const base = service.revisionOf(session)!;
    await replace(service, 'many', { after: base - 50, events: events('b', 10_000) });
    const { length } = (await open(service, 'many')).events;
    assert.equal(length, 10_050);
    await replace(service, 'many', { after: base - 50, events: events('b', 10_000) });
    const read = await open(service, 'many');
    assert.deepEqual(idsOf(read), [...ids('a', 50), ...ids('b', 10_000)]);
  },
};
