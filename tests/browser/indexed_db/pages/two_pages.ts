// Two pages append to one database, each to its own session and to a shared one.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IndexedDbSessionService, type Session } from 'adk-session-wasm';
import type { ComputeDelta } from '../../../../js/values/state/state_shape.js';
import { type Context, inTwoTabs, newName } from '../context.js';
import { meet } from '../../rendezvous.js';
import { rows } from '../page/bare.js';
import { APP, idsOf, keyOf, mark, numbers, USER } from '../page/events.js';
import { Feed } from '../page/feed.js';

/** What the tests call in the page. */
export const inPage = { workBesideAnother, countBesideAnother };
type Page = typeof inPage;

const SHARED = 'shared';
const WRITERS = ['left', 'right'];
const EVENTS = 1000;

export function twoPages(context: Context): void {
  it('two pages that count 1,000 each, all at once, count 2,000', async () => {
    await inTwoTabs<Page>(context, async (left, right) => {
      const name = newName();
      await left.start('countBesideAnother', name, EVENTS);
      await right.start('countBesideAnother', name, EVENTS);
      assert.deepEqual(await left.finish<'countBesideAnother'>(), [2 * EVENTS, 20]);
      assert.deepEqual(await right.finish<'countBesideAnother'>(), [2 * EVENTS, 20]);
    });
  });

  it('two pages that append to one database at once both read all events', async () => {
    await inTwoTabs<Page>(context, async (left, right) => {
      const name = newName();
      await left.start('workBesideAnother', name, 'left');
      await right.start('workBesideAnother', name, 'right');
      const seen = [
        await left.finish<'workBesideAnother'>(),
        await right.finish<'workBesideAnother'>(),
      ];
      for (const { yielded, ...rest } of seen.map(withoutFeed)) {
        assertComplete(rest);
        assertFeed(yielded);
      }
      assert.deepEqual(withoutFeed(seen[0]!).events, withoutFeed(seen[1]!).events);
    });
  });
}

type Yielded = PagesReport['revisions'];

function withoutFeed({
  revisions,
  ...rest
}: PagesReport): Omit<PagesReport, 'revisions'> & { yielded: Yielded } {
  return { ...rest, yielded: revisions };
}

function assertComplete({
  events,
  state,
  userState,
  appState,
}: Omit<PagesReport, 'revisions'>): void {
  const ids = Object.values(events).flat();
  assert.deepEqual(Object.keys(events).sort(), [...WRITERS, SHARED].sort());
  assert.equal(new Set(ids).size, EVENTS, 'each event is there');
  assert.equal(ids.length, EVENTS, 'no event is there twice');
  for (const [sessionId, own] of Object.entries(events)) {
    for (const writer of WRITERS) {
      const written = own.filter((id) => id.startsWith(`${sessionId}:${writer}-`));
      assert.deepEqual(written, [...written].sort(), `the events of ${writer} are in their order`);
    }
    const keys = state[sessionId]!.filter((key) => !/^(app|user):/.test(key));
    assert.deepEqual(keys.sort(), [...own].sort(), 'each event left its key in the session');
  }
  assert.ok(WRITERS.every((writer) => events[SHARED]!.some((id) => id.includes(`:${writer}-`))));
  ids.sort();
  assert.deepEqual([...userState].sort(), ids, 'each event left its key in the user state');
  assert.deepEqual([...appState].sort(), ids, 'each event left its key in the app state');
}

function assertFeed(yielded: Yielded): void {
  assert.deepEqual(Object.keys(yielded).sort(), [...WRITERS, SHARED].sort());
  for (const { stored, yielded: revisions } of Object.values(yielded)) {
    assert.equal(revisions.at(-1), stored, 'the last revision was yielded');
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
      'they only grow',
    );
  }
}

const ROUNDS = 5;
/** A round's appends of one page: so many to each of the two sessions. */
const APPENDS = 50;
const AT_ONCE = 10;

/** The data that a page reads after both have finished. */
interface PagesReport {
  events: Record<string, string[]>;
  state: Record<string, string[]>;
  userState: string[];
  appState: string[];
  /** By session: what its row has, and what the feed yielded. */
  revisions: Record<string, { stored: number; yielded: number[] }>;
}

async function workBesideAnother(name: string, writer: string): Promise<PagesReport> {
  const service = new IndexedDbSessionService({ name });
  const feed = new Feed(service, { appName: APP });
  const own = await service.createSession(keyOf(writer));
  const shared = await service.getOrCreateSession(keyOf(SHARED));
  // Neither page can be through before the other one begins.
  for (let round = 0; round < ROUNDS; round += 1) {
    await meet(`${name} round ${round}`);
    await appendRound(service, [own, shared], `${writer}-${round}`);
  }
  await meet(`${name} end`);
  const seen = await look(service, name, feed);
  // A page that closes earlier would miss notices.
  await meet(`${name} seen`);
  await feed.stop();
  await service.close();
  return seen;
}

/** Adds 1 to an app's key so many times at once, and then to a session's. Returns both sums. */
async function countBesideAnother(name: string, count: number): Promise<unknown[]> {
  const service = new IndexedDbSessionService({ name });
  const key = keyOf(SHARED);
  await service.getOrCreateSession(key);
  const add = (owner: { appName: string }, name: string): Promise<void> => {
    const stateDelta: ComputeDelta = (state) => ({ [name]: Number(state[name] ?? 0) + 1 });
    return service.updateState({ ...owner, stateDelta });
  };
  await meet(`${name} begin`);
  await Promise.all(numbers(count).map(() => add({ appName: APP }, 'app:total')));
  await Promise.all(numbers(10).map(() => add(key, 'own')));
  await meet(`${name} end`);
  const { state } = (await service.getSession(key))!;
  await service.close();
  return [state['app:total'], state.own];
}

async function appendRound(
  service: IndexedDbSessionService,
  sessions: Session[],
  prefix: string,
): Promise<void> {
  const ids = numbers(APPENDS).map((number) => `${prefix}-${number}`);
  while (ids.length > 0) {
    const appends = ids
      .splice(0, AT_ONCE / sessions.length)
      .flatMap((id) =>
        sessions.map((session) =>
          service.appendEvent({ session, event: mark(`${session.id}:${id}`) }),
        ),
      );
    await Promise.all(appends);
  }
}

async function look(
  service: IndexedDbSessionService,
  name: string,
  feed: Feed,
): Promise<PagesReport> {
  const events: PagesReport['events'] = {};
  const state: PagesReport['state'] = {};
  const stored = await rows(name, 'sessions');
  const revisions = Object.fromEntries(
    stored.map((row) => [row.sessionId as string, row.revision as number]),
  );
  for (const sessionId of Object.keys(revisions)) {
    const session = await service.getSession(keyOf(sessionId));
    events[sessionId] = idsOf(session);
    state[sessionId] = Object.keys(session?.state ?? {});
  }
  await feed.until(() =>
    Object.entries(revisions).every(([id, last]) => feed.revisions()[id]?.at(-1) === last),
  );
  return {
    events,
    state,
    userState: Object.keys(await service.getUserState({ appName: APP, userId: USER })),
    appState: Object.keys(await service.getAppState({ appName: APP })),
    revisions: Object.fromEntries(
      Object.entries(feed.revisions()).map(([id, yielded]) => [
        id,
        { stored: revisions[id] ?? NaN, yielded },
      ]),
    ),
  };
}
