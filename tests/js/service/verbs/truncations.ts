// Appends that first remove the end of a history, over any storage whose store can do that. Pages of browsers run
// these tests too, so nothing of Node is used.

import type {
  Event,
  Session,
  SessionError,
  StateShape,
  SessionService,
} from '../../../../js/index.js';
import type { EventSnapshot } from '../../../../js/model/event/snapshot.js';
import type { replaceEnd } from '../../../../js/service/replace_end.js';
import type { ServiceCore } from '../../../../js/service/service_core.js';
import type { TruncatingRequest } from '../../../../js/storage/session_store.js';

/** The methods that the tests call, of any copy of the package. */
type Service = Pick<
  SessionService,
  | 'appendEvents'
  | 'createSession'
  | 'getSession'
  | 'listChanges'
  | 'listEvents'
  | 'listSessions'
  | 'revisionOf'
  | 'sessionInfo'
  | 'updateSession'
  | 'watch'
>;

/** What a test says of such an append. */
export interface Replacement {
  readonly after: number;
  readonly events?: readonly Event[];
  readonly delta?: StateShape;
  readonly expectedRevision?: number;
}

const KEY = { appName: 'cuts', userId: 'ada' };

export const event = (id: string, text = id, stateDelta: StateShape = {}): Event => ({
  id,
  invocationId: 'i',
  author: 'user',
  timestamp: 1_700_000_000_000,
  content: { role: 'user', parts: [{ text }] },
  actions: {
    stateDelta,
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
  },
});

export const events = (prefix: string, count: number, from = 0): Event[] =>
  Array.from({ length: count }, (_, index) => event(`${prefix}${from + index}`));

/** The parts of a service that the cache uses. A bundle may have a second copy of the package, hence the symbol. */
const coreOf = (service: Service): ServiceCore =>
  (service as unknown as Record<symbol, ServiceCore>)[Symbol.for('adk-session-wasm.core')]!;

const snapshotOf = (event: Event): EventSnapshot => {
  const { id, timestamp, actions } = event;
  const delta = actions.stateDelta;
  const texts = { deltaText: JSON.stringify(delta), text: JSON.stringify(event) };
  return { id, timestamp, delta, actions, ...texts } as unknown as EventSnapshot;
};

/** Appends after it has removed the end of a session's history. Returns the session's revision. */
export async function replace(
  service: Service,
  sessionId: string,
  { after, events = [], delta = {}, expectedRevision }: Replacement,
): Promise<number> {
  const request: TruncatingRequest = {
    key: { ...KEY, sessionId },
    position: { created: -1, revision: 0, lastEventId: undefined },
    policy: 1,
    expectedRevision,
    events: events.map(snapshotOf),
    truncateAfter: after,
    delta: JSON.stringify(delta),
  };
  const [, revision] = await REPLACE.end(coreOf(service), request);
  return revision;
}

/** Set by whoever runs the tests: the function of the copy of the package under test. */
export const REPLACE: { end: typeof replaceEnd } = {
  end: () => {
    throw new Error('REPLACE.end is not set');
  },
};

function same(found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`found ${one}, but expected ${other}`);
}

function holds(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`it does not hold that ${what}`);
}

async function fails(code: string, call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error as SessionError,
  );
  same(error?.code, code);
}

/** Sorts members by name. */
const sorted = (members: object): object =>
  Object.fromEntries(Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1)));

const create = (service: Service, sessionId: string, state: StateShape = {}): Promise<Session> =>
  service.createSession({ ...KEY, sessionId, state });

async function open(service: Service, sessionId: string): Promise<Session> {
  const session = await service.getSession({ ...KEY, sessionId });
  if (session === undefined) throw new Error('there is no session');
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
    same(idsOf(read), [...ids('a', 5), 'theirs', 'mine1']);
    same(read.events[2]?.content?.parts?.[0]?.text, 'new');
    same(sorted(read.state), { 'app:house': 2, more: [1], own: 3 });
    same(service.revisionOf(read), revision);
    holds('the revision grows', revision > service.revisionOf(session)!);
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
      same(idsOf(await open(service, 'middle')), ids('a', length));
    }
    // Removed ids are free again.
    const last = await replace(service, 'middle', {
      after: changed[0]!.seq,
      events: events('a', 300),
    });
    same(idsOf(await open(service, 'middle')), ids('a', 300));
    const info = await service.sessionInfo({ ...KEY, sessionId: 'middle' });
    same(info.eventCount, 300);
    await replace(service, 'middle', { after: last, events: [event('end')] });
    same((await open(service, 'middle')).events.length, 301);
  },

  async 'windows, pages and changes follow the cut'(service) {
    const session = await create(service, 'windows');
    await service.appendEvents({ session, events: events('a', 200) });
    const base = service.revisionOf(session)!;
    await service.appendEvents({ session, events: events('b', 40) });
    const revision = await replace(service, 'windows', { after: base, events: events('c', 30) });
    const key = { ...KEY, sessionId: 'windows' };
    const window = await service.getSession({ ...key, config: { numRecentEvents: 35 } });
    same(idsOf(window!), [...ids('a', 5, 195), ...ids('c', 30)]);
    const page = await service.listEvents({ ...key, limit: 50 });
    same(idsOf(page), [...ids('a', 20, 180), ...ids('c', 30)]);
    const older = await service.listEvents({ ...key, limit: 50, before: page.before! });
    same(idsOf(older), ids('a', 50, 130));
    const changes = await service.listChanges({ ...key, since: base });
    // A SQL database may name events that were there before.
    const newOnes = changes.events?.filter(({ revision }) => revision > base);
    same(
      newOnes?.map(({ event }) => event.id),
      ids('c', 30),
    );
    same(changes.revision, revision);
    const since = await service.listChanges({ ...key, since: revision });
    same(since.events, []);
  },

  async 'a removal alone is a change'(service) {
    const session = await create(service, 'alone', { own: 1 });
    await service.appendEvents({ session, events: events('a', 3) });
    const before = service.revisionOf(session)!;
    const revision = await replace(service, 'alone', { after: 0 });
    holds('the revision grows', revision > before);
    const read = await open(service, 'alone');
    same([read.events, read.state], [[], { own: 1 }]);
    // Nothing is left to remove.
    same(await replace(service, 'alone', { after: revision }), revision);
    const last = await replace(service, 'alone', { after: revision, delta: { own: 2 } });
    holds('the revision grows', last > revision);
    same((await open(service, 'alone')).state, { own: 2 });
    await service.appendEvents({ session, events: [event('next')] });
    same(idsOf(await open(service, 'alone')), ['next']);
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
    same(idsOf(read), ids('a', 4, 6));
    same([read.title, read.labels, read.state], ['Tea', { a: 'b' }, { begun: false }]);
    const after = await service.listChanges({ ...key, since: before.revision });
    same(after.created, before.created);
    const info = await service.sessionInfo(key);
    same(info.eventCount, 4);
    holds('the initial state is forgotten', info.initialState === undefined);
    const sessions = await service.listSessions({ ...KEY });
    holds(
      'it is listed',
      sessions.sessions.some(({ id, title }) => id === 'whole' && title === 'Tea'),
    );
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
    await fails('stale_session', refused);
    const read = await open(service, 'stale');
    same([idsOf(read), read.state], [[...ids('a', 3), 'other'], { own: 1 }]);
    const expectedRevision = service.revisionOf(read)!;
    await replace(service, 'stale', { after: base, events: [event('mine')], expectedRevision });
    same(idsOf(await open(service, 'stale')), [...ids('a', 3), 'mine']);
  },

  async 'appends of others at the same time are not lost'(service) {
    const session = await create(service, 'race');
    await service.appendEvents({ session, events: events('a', 3) });
    const base = service.revisionOf(session)!;
    const [others, replaced] = await Promise.allSettled([
      service.appendEvents({ session: await open(service, 'race'), events: events('o', 5) }),
      replace(service, 'race', { after: base, events: [event('mine')], expectedRevision: base }),
    ]);
    same(others.status, 'fulfilled');
    const expected = replaced.status === 'fulfilled' ? ['mine', ...ids('o', 5)] : ids('o', 5);
    same(idsOf(await open(service, 'race')), [...ids('a', 3), ...expected]);
    if (replaced.status === 'rejected') {
      same((replaced.reason as SessionError).code, 'stale_session');
    }
  },

  async 'an open handle gets what it missed before the next event that it has, which stays in its place'(
    service,
  ) {
    const session = await create(service, 'handle', { own: 1 });
    await service.appendEvents({
      session,
      events: [...events('a', 3), event('mine1'), event('mine2')],
    });
    const { state, events: given } = session;
    const base = service.revisionOf(session)!;
    await replace(service, 'handle', {
      after: base - 2,
      events: [event('theirs', 't', { own: 2 }), event('mine2'), event('mine1', 'again')],
      delta: { own: 2 },
    });
    await service.appendEvents({ session, events: [event('next')] });
    holds('the revision grows', base < service.revisionOf(session)!);
    holds('the state is the same object', session.state === state);
    holds('the events are the same array', session.events === given);
    same(idsOf(session), [...ids('a', 3), 'mine1', 'theirs', 'mine2', 'next']);
    same(session.events[3]?.content?.parts?.[0]?.text, 'again');
    same(session.state, { own: 2 });
    const stored = [...ids('a', 3), 'theirs', 'mine2', 'mine1', 'next'];
    same(idsOf(await open(service, 'handle')), stored);
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
    same(sorted(value as object), sorted(expected));
  },

  async 'a session that does not exist is not found'(service) {
    const replaced = replace(service, 'never', { after: 0, events: events('a', 1) });
    await fails('not_found', replaced);
  },

  async 'ten thousand events are replaced'(service) {
    const session = await create(service, 'many');
    await service.appendEvents({ session, events: events('a', 100) });
    const base = service.revisionOf(session)!;
    await replace(service, 'many', { after: base - 50, events: events('b', 10_000) });
    const { length } = (await open(service, 'many')).events;
    same(length, 10_050);
    await replace(service, 'many', { after: base - 50, events: events('b', 10_000) });
    const read = await open(service, 'many');
    same(idsOf(read), [...ids('a', 50), ...ids('b', 10_000)]);
  },
};
