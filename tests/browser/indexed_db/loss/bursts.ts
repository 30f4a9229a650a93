// Pages that end in the middle of many appends.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  IndexedDbSessionService,
  type IndexedDbSessionServiceOptions,
  type Session,
} from 'adk-session-wasm';
import { APP, idsOf, keyOf, mark, USER } from '../page/events.js';
import { acknowledge } from '../page/site.js';
import type { Tab } from '../../tab.js';
import { type Context, inTab, newName } from '../context.js';

/** What the tests call in the page. */
export const inPage = { burst, readStored };
type Page = typeof inPage;

/** Acknowledgements after which the page ends: at the beginning, and when page records have been written. */
const ENDS = [3, 150];

const WAYS: [name: string, end: (tab: Tab<Page>, elsewhere: string) => Promise<void>][] = [
  ['navigated away', (tab, elsewhere) => tab.open(elsewhere)],
  ['closed', (tab) => tab.close()],
];

export function bursts(context: Context): void {
  for (const [name, end] of WAYS) {
    it(`a page that is ${name} during many appends loses no acknowledged event`, async () => {
      const options = { name: newName() };
      const { acknowledged, elsewhere } = context.site;
      const told: string[] = [];
      for (const count of ENDS) {
        await inTab<Page>(context, async (tab) => {
          await tab.start('burst', options, `run ${count}`);
          await acknowledged.atLeast(count);
          await end(tab, elsewhere);
        });
        told.push(...acknowledged.take());
        await inTab<Page>(context, async (tab) => {
          assertWhole(await tab.call('readStored', options), told);
        });
      }
      assert.ok(told.length >= Math.max(...ENDS));
    });
  }
}

/** All that was acknowledged is stored, and whatever is stored is whole. */
export function assertWhole({ sessions, userKeys, appKeys, total }: Stored, told: string[]): void {
  const events = Object.values(sessions).flatMap((session) => session.events);
  const stored = new Set(events);
  const lost = told.flatMap((ids) => ids.split('\n')).filter((id) => !stored.has(id));
  assert.deepEqual(lost, [], 'acknowledged events are stored');
  assert.equal(stored.size, events.length, 'no event is stored twice');
  for (const session of Object.values(sessions)) {
    assert.deepEqual([...session.keys].sort(), [...session.events].sort(), 'events and their keys');
  }
  events.sort();
  assert.deepEqual([...userKeys].sort(), events, 'events and their keys in the user state');
  assert.deepEqual([...appKeys].sort(), events, 'events and their keys in the app state');
  assert.equal(total, Object.keys(sessions).length, 'sessions are counted');
  for (const { events } of Object.values(sessions)) assertLanes(events);
}

/** A lane appends one event after the other, so no earlier event may be missing, and no batch may be divided. */
function assertLanes(events: string[]): void {
  const lanes = new Map<string, number[]>();
  for (const id of events) {
    const [, lane, number, place] = /^(.*):(\d+):(\d+)$/.exec(id)!;
    const size = lane!.endsWith(':d') ? BATCH : 1;
    const numbers = lanes.get(lane!) ?? [];
    lanes.set(lane!, [...numbers, Number(number) * size + Number(place)]);
  }
  for (const [lane, numbers] of lanes) {
    const all = numbers.map((_, position) => position);
    assert.deepEqual(numbers, all, `the events of lane ${lane} follow each other`);
    if (lane.endsWith(':d')) assert.equal(numbers.length % BATCH, 0, 'batches are whole');
  }
}

const SESSIONS = ['one', 'two'];
/** How many events a batch has: all of them or none have to be there. */
const BATCH = 3;

/** The stored events and keys by session, and the keys of the other scopes. */
export interface Stored {
  sessions: Record<string, { events: string[]; keys: string[] }>;
  userKeys: string[];
  appKeys: string[];
  total: number;
}

/** Runs several lanes concurrently, each with one pending append: to one session, to two, and batches. */
export async function burst(options: IndexedDbSessionServiceOptions, run: string): Promise<void> {
  const service = new IndexedDbSessionService(options);
  const [one, two] = await Promise.all(
    SESSIONS.map((sessionId) => service.getOrCreateSession(keyOf(sessionId))),
  );
  const lane = (name: string, session: Session, size: number) =>
    appendForEver(service, session, `${run}:${name}`, size);
  await Promise.all([
    lane('a', one!, 1),
    lane('b', one!, 1),
    lane('c', two!, 1),
    lane('d', two!, BATCH),
  ]);
}

async function appendForEver(
  service: IndexedDbSessionService,
  session: Session,
  prefix: string,
  size: number,
): Promise<void> {
  for (let number = 0; ; number += 1) {
    const ids = Array.from({ length: size }, (_, place) => `${prefix}:${number}:${place}`);
    const [event, ...more] = ids.map(mark);
    if (more.length === 0) await service.appendEvent({ session, event: event! });
    else await service.appendEvents({ session, events: [event!, ...more] });
    acknowledge(ids.join('\n'));
  }
}

export async function readStored(options: IndexedDbSessionServiceOptions): Promise<Stored> {
  const service = new IndexedDbSessionService(options);
  const sessions: Stored['sessions'] = {};
  for (const sessionId of SESSIONS) {
    const session = await service.getSession(keyOf(sessionId));
    if (session === undefined) continue;
    const keys = Object.keys(session.state).filter((key) => !/^(user|app):/.test(key));
    sessions[sessionId] = { events: idsOf(session), keys };
  }
  const stored = {
    sessions,
    userKeys: Object.keys(await service.getUserState({ appName: APP, userId: USER })),
    appKeys: Object.keys(await service.getAppState({ appName: APP })),
    total: (await service.listSessions({ appName: APP })).totalItems,
  };
  await service.close();
  return stored;
}
