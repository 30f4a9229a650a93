/** Calls of a program to the service between turns, with intended differences from the framework's own service. */

import type { BaseSessionService, Event, Session } from '@google/adk';

import { REMOVED } from '../../../../../js/values/state/scope.js';
import { whatItSaw } from './differences.js';
import { key, outcome, type Scenario } from './scenario.js';
import { nextMillisecond, type Stage } from './stage.js';

const later = { ...key, sessionId: 'later' };

/** A scenario of which nothing but what it saw is compared. */
interface Call {
  name: string;
  run: (stage: Stage, service: BaseSessionService) => Promise<unknown>;
  ours: unknown;
  theirs: unknown;
  why: string;
}

const event = ({ adk }: Stage, stateDelta: Record<string, unknown>, rest: Partial<Event> = {}) => ({
  ...adk.createEvent({ author: 'agent', actions: adk.createEventActions({ stateDelta }) }),
  ...rest,
});

/** Events of one character each, with the given ids and times. */
async function at(stage: Stage, times: Record<string, number>): Promise<Session> {
  const session = await stage.create();
  for (const [id, timestamp] of Object.entries(times)) {
    await stage.sessionService.appendEvent({ session, event: event(stage, {}, { id, timestamp }) });
  }
  return session;
}

const ids = (session: Session | undefined) => session?.events.map(({ id }) => id).join('') ?? null;

const sessions: readonly Call[] = [
  {
    name: 'creating a session whose id is taken',
    run: async (stage, service) => {
      await stage.create({ k: 'first' });
      const again = await outcome(() => service.createSession({ ...key, state: { k: 'again' } }));
      return { again: (again as Session).state ?? again, stored: (await stage.stored()).state };
    },
    ours: { again: { code: 'already_exists' }, stored: { k: 'first' } },
    theirs: { again: { k: 'again' }, stored: { k: 'again' } },
    why: 'there the stored session is lost without a word',
  },
  {
    name: 'app: and user: keys of the state that a session is created with',
    run: async (stage, service) => {
      await stage.create({ 'app:a': 1, 'user:u': 1, k: 1 });
      return (await service.createSession(later)).state;
    },
    ours: { 'app:a': 1, 'user:u': 1 },
    theirs: {},
    why: 'there they stay in that one session, whatever their prefix says',
  },
  {
    name: 'a session id of blanks',
    run: async (_stage, service) => {
      const { id } = await service.createSession({ ...key, sessionId: '  ' });
      return { isBlank: id.trim() === '' };
    },
    ours: { isBlank: false },
    theirs: { isBlank: true },
    why: 'a blank id is no id: it gets a fresh one',
  },
  {
    name: 'names that are empty',
    run: async (_stage, service) =>
      outcome(service.createSession({ ...key, appName: '' }).then(({ id }) => id)),
    ours: { code: 'invalid_argument' },
    theirs: 's',
    why: 'there whatever was forgotten becomes a name, which other programs share',
  },
  {
    name: 'three programs that get or create one session at once',
    run: async (stage, service) => {
      const made = await Promise.all(
        [1, 2, 3].map((n) => service.getOrCreateSession({ ...key, state: { n } })),
      );
      return { got: made.map(({ state }) => state.n), stored: (await stage.stored()).state.n };
    },
    ours: { got: [1, 1, 1], stored: 1 },
    theirs: { got: [1, 2, 3], stored: 3 },
    why: 'there all of them create it, and the last one wins',
  },
  {
    name: 'an id that is used again after its session was deleted',
    run: async (stage, service) => {
      const old = await stage.create();
      await service.deleteSession(key);
      await stage.create();
      const appended = await outcome(
        service.appendEvent({ session: old, event: event(stage, { k: 1 }) }).then(() => 'appended'),
      );
      return { appended, state: (await stage.stored()).state };
    },
    ours: { appended: { code: 'not_found' }, state: {} },
    theirs: { appended: 'appended', state: { k: 1 } },
    why: 'a handle of the deleted session is none of the new one',
  },
  {
    name: 'the state that a list of sessions shows, and its order',
    run: async (_stage, service) => {
      for (const sessionId of ['b', '10', '9']) {
        await service.createSession({ ...key, sessionId, state: { k: sessionId } });
        await nextMillisecond();
      }
      const { sessions } = await service.listSessions(key);
      return sessions.map(({ id, state }) => `${id}: ${JSON.stringify(state)}`);
    },
    ours: ['b: {"k":"b"}', '10: {"k":"10"}', '9: {"k":"9"}'],
    theirs: ['9: {}', '10: {}', 'b: {}'],
    why: 'ours are ordered by time also when no order is asked for, and tell the state',
  },
  {
    name: 'the order of the keys of a state that is read',
    run: async (stage, service) => {
      const session = await stage.create({ first: 1 });
      const delta = { 'app:a': 1, 'user:u': 1, last: 1 };
      await service.appendEvent({ session, event: event(stage, delta) });
      return Object.keys((await stage.stored()).state).join(' ');
    },
    ours: 'first last user:u app:a',
    theirs: 'first app:a user:u last',
    why: 'ours are stored by scope, and merged when they are read',
  },
  {
    name: 'a page of sessions that does not exist',
    run: async (stage, service) => {
      await stage.create();
      const list = service.listSessions({ ...key, limit: 1, page: 0 });
      return outcome(list.then(({ sessions }) => sessions.length));
    },
    ours: { code: 'invalid_argument' },
    theirs: 0,
    why: 'there a number that means nothing gives an empty list',
  },
];

const windows: readonly Call[] = [
  {
    name: 'the last 0 events',
    run: async (stage, service) => {
      await at(stage, { a: 1, b: 2 });
      return ids(await service.getSession({ ...key, config: { numRecentEvents: 0 } }));
    },
    ours: '',
    theirs: 'ab',
    why: 'there 0 means all',
  },
  {
    name: 'the last -1 events',
    run: async (stage, service) => {
      await at(stage, { a: 1, b: 2 });
      return outcome(service.getSession({ ...key, config: { numRecentEvents: -1 } }).then(ids));
    },
    ours: { code: 'invalid_argument' },
    theirs: 'b',
    why: 'there it is all but the first',
  },
  {
    name: 'the events after a time, one of which came late',
    run: async (stage, service) => {
      await at(stage, { a: 10, b: 30, c: 5 });
      return ids(await service.getSession({ ...key, config: { afterTimestamp: 20 } }));
    },
    ours: 'b',
    theirs: '',
    why: 'there one late event hides all that were appended before it',
  },
  {
    name: 'the last event after a time',
    run: async (stage, service) => {
      await at(stage, { a: 30, b: 40, c: 5 });
      const config = { numRecentEvents: 1, afterTimestamp: 20 };
      return ids(await service.getSession({ ...key, config }));
    },
    ours: 'b',
    theirs: '',
    why: 'there the last ones are taken first, and then those after the time among them',
  },
];

const appends: readonly Call[] = [
  {
    name: 'a partial event with a delta',
    run: async (stage, service) => {
      const session = await stage.create();
      const delta = { k: 1, 'user:u': 1, 'app:a': 1 };
      const partial = event(stage, delta, { partial: true, timestamp: 1 });
      await service.appendEvent({ session, event: partial });
      const { state, lastUpdateTime } = await stage.stored();
      return { state, handleIsOfTheYear1970: session.lastUpdateTime === 1, lastUpdateTime };
    },
    ours: { state: {}, handleIsOfTheYear1970: false, lastUpdateTime: 'a time' },
    theirs: {
      state: { 'user:u': 1, 'app:a': 1 },
      handleIsOfTheYear1970: true,
      lastUpdateTime: 'a time',
    },
    why: 'there it changes user: and app: state, and the time of the handle',
  },
  {
    name: 'a late event',
    run: async (stage, service) => {
      const session = await stage.create();
      await service.appendEvent({ session, event: event(stage, {}, { timestamp: 1 }) });
      return { isOfTheYear1970: (await stage.stored()).lastUpdateTime === 1 };
    },
    ours: { isOfTheYear1970: false },
    theirs: { isOfTheYear1970: true },
    why: 'there the time of the session goes back',
  },
  {
    name: 'an invalid time',
    run: async (stage, service) => {
      const session = await stage.create();
      const strange = event(stage, {}, { timestamp: NaN });
      return outcome(service.appendEvent({ session, event: strange }).then(() => 'appended'));
    },
    ours: { code: 'invalid_argument' },
    theirs: 'appended',
    why: 'there it becomes the time of the session',
  },
  {
    name: 'removals of keys',
    run: async (stage, service) => {
      const session = await stage.create({ a: 1, b: 1, kept: null });
      const removal = event(stage, { a: REMOVED, b: undefined });
      await service.appendEvent({ session, event: removal });
      const { state } = await stage.stored();
      return { stored: Object.keys(state), handle: Object.keys(session.state) };
    },
    ours: { stored: ['kept'], handle: ['kept'] },
    theirs: { stored: ['a', 'b', 'kept'], handle: ['a', 'b', 'kept'] },
    why: 'there no key can be removed',
  },
  {
    name: 'an event that is appended twice',
    run: async (stage, service) => {
      const session = await stage.create();
      const first = event(stage, { k: 1 });
      await service.appendEvent({ session, event: first });
      await service.appendEvent({ session, event: event(stage, { k: 2 }) });
      await service.appendEvent({ session, event: first });
      const { state, events } = await stage.stored();
      return { state, events: events.length };
    },
    ours: { state: { k: 2 }, events: 2 },
    theirs: { state: { k: 1 }, events: 2 },
    why: 'a retry of what is stored changes nothing; there its delta is applied once more',
  },
  {
    name: 'events without ids',
    run: async (stage, service) => {
      const session = await stage.create();
      for (const text of ['one', 'two', 'three']) {
        const content = { role: 'model', parts: [{ text }] };
        await service.appendEvent({ session, event: { author: 'agent', content } as Event });
      }
      return (await stage.stored()).events.map(({ content }) => content?.parts?.[0]?.text);
    },
    ours: ['one', 'two', 'three'],
    theirs: ['three'],
    why: 'they get ids, times and empty actions; there each takes the place of the one before',
  },
  {
    name: 'a frozen handle',
    run: async (stage, service) => {
      const session = Object.freeze(await stage.create());
      const appended = await service.appendEvent({ session, event: event(stage, { k: 1 }) }).then(
        () => 'appended',
        (error: { code?: string }) => error.code ?? 'an error',
      );
      return { appended, state: (await stage.stored()).state };
    },
    ours: { appended: 'invalid_argument', state: {} },
    theirs: { appended: 'an error', state: {} },
    why: 'it is said with a code',
  },
];

const values: readonly Call[] = [
  {
    name: 'what a caller does to an event and its values after they were stored',
    run: async (stage, service) => {
      const basket = { items: [1] };
      const session = await stage.create({ basket });
      const appended = event(stage, { 'user:list': [1] });
      await service.appendEvent({ session, event: appended });
      basket.items.push(2);
      appended.author = 'someone else';
      (appended.actions.stateDelta['user:list'] as number[]).push(2);
      const { state, events } = await stage.stored();
      return { state, author: events[0]?.author };
    },
    ours: { state: { basket: { items: [1] }, 'user:list': [1] }, author: 'agent' },
    theirs: { state: { basket: { items: [1, 2] }, 'user:list': [1, 2] }, author: 'someone else' },
    why: 'what is stored is a snapshot; there the objects are shared',
  },
  {
    name: 'what a reader does to what it was given',
    run: async (stage, service) => {
      const session = await stage.create();
      await service.appendEvent({ session, event: event(stage, { 'user:list': [1] }) });
      const read = await stage.stored();
      (read.state['user:list'] as number[]).push(2);
      return (await stage.stored()).state;
    },
    ours: { 'user:list': [1] },
    theirs: { 'user:list': [1, 2] },
    why: 'each read is a copy; there user: and app: values are shared with the store',
  },
  {
    name: 'a date in the state',
    run: async (stage, service) => {
      const session = await stage.create();
      await service.appendEvent({ session, event: event(stage, { at: new Date(0) }) });
      return { isText: typeof (await stage.stored()).state.at === 'string' };
    },
    ours: { isText: true },
    theirs: { isText: false },
    why: 'state is JSON in memory too: what memory takes, a database takes',
  },
  ...Object.entries({
    'a Map': new Map(),
    NaN: NaN,
    'a BigInt': 1n,
    'half of a character': '\ud800',
  }).map(([what, value]): Call => ({
    name: `${what} in the state`,
    run: async (stage, service) => {
      const session = await stage.create();
      const delta = { cart: { items: [value] } };
      return outcome(
        service.appendEvent({ session, event: event(stage, delta) }).then(() => 'stored'),
      );
    },
    ours: { code: 'unserializable', path: 'cart.items[0]' },
    theirs: 'stored',
    why: 'it is refused by every storage, before anything is written',
  })),
];

export const serviceCalls: readonly Scenario[] = [
  ...sessions,
  ...windows,
  ...appends,
  ...values,
].map(({ name, run, ours, theirs, why }) => ({
  name,
  run: (stage) => run(stage, stage.sessionService),
  shows: ours,
  sessions: [],
  differs: whatItSaw(ours, theirs, why),
}));
