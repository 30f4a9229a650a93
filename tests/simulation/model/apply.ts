// What the contract says that an operation does, on one possible world.

import { State, type StateShape } from '../../../js/index.js';
import type { Call, EventSpec, Operation } from '../operation.js';
import { storedText, updateText } from './events.js';
import { listText } from './list.js';
import {
  changed,
  mergedState,
  type ModelEvent,
  type ModelSession,
  nameOf,
  partOf,
  scopeText,
  sessionName,
  sessionText,
  type View,
  withDelta,
  type World,
} from './world.js';

/** What a storage promises less of than the contract. */
export interface Rules {
  /** Whether `lastUpdateTime` is what the contract says; else it is not compared. */
  readonly hasExactTimes: boolean;
  /** Whether the states of users and apps are shown by their sessions alone: without a session they cannot be read. */
  readonly sharedStatesNeedSessions?: boolean;
}

/** What an operation answers in a world, and the world after it. */
export interface Step {
  readonly world: World;
  /** A canonical text, or the code of the error. */
  readonly answer: { readonly value?: string | undefined; readonly code?: string };
}

export function apply(world: World, call: Call, rules: Rules): Step {
  const { operation } = call;
  switch (operation.kind) {
    case 'create':
    case 'getOrCreate':
      return create(world, call, operation, rules);
    case 'get': {
      const session = world.sessions.get(sessionName(operation.key));
      if (session === undefined) return { world, answer: { value: undefined } };
      const view = viewOf(world, session, operation.last);
      return {
        world: { ...world, views: changed(world.views, operation.handle, view) },
        answer: { value: sessionText(world, session, operation.last) },
      };
    }
    case 'list':
      return { world, answer: { value: listText(world, operation, rules) } };
    case 'delete': {
      const sessions = changed(world.sessions, sessionName(operation.key), undefined);
      return { world: { ...world, sessions }, answer: {} };
    }
    case 'append':
      return append(world, call, operation, rules);
    case 'update':
      return update(world, call, operation, rules);
    case 'userState': {
      const { users } = readable(world, rules);
      return { world, answer: { value: scopeText(users.get(userName(operation))) } };
    }
    case 'appState': {
      const { apps } = readable(world, rules);
      return { world, answer: { value: scopeText(apps.get(nameOf(operation.appName))) } };
    }
    case 'deleteUser': {
      const { appName, userId } = operation;
      const sessions = [...world.sessions].filter(
        ([, { key }]) => key.appName !== appName || key.userId !== userId,
      );
      const users = changed(world.users, userName(operation), undefined);
      return { world: { ...world, sessions: new Map(sessions), users }, answer: {} };
    }
    case 'deleteUserState':
      return {
        world: { ...world, users: changed(world.users, userName(operation), undefined) },
        answer: {},
      };
    case 'deleteAppState':
      return {
        world: { ...world, apps: changed(world.apps, nameOf(operation.appName), undefined) },
        answer: {},
      };
  }
}

/** The world without the states that nobody can read. */
export function readable(world: World, { sharedStatesNeedSessions }: Rules): World {
  if (sharedStatesNeedSessions !== true) return world;
  const keys = [...world.sessions.values()].map(({ key }) => key);
  const users = new Set(keys.map(userName));
  const apps = new Set(keys.map(({ appName }) => nameOf(appName)));
  return {
    ...world,
    users: new Map([...world.users].filter(([name]) => users.has(name))),
    apps: new Map([...world.apps].filter(([name]) => apps.has(name))),
  };
}

const userName = ({ appName, userId }: { appName: string; userId: string }) =>
  nameOf(appName, userId);

function create(
  world: World,
  { now }: Call,
  { kind, key, state, handle }: Operation & { kind: 'create' | 'getOrCreate' },
  rules: Rules,
): Step {
  const name = sessionName(key);
  const found = world.sessions.get(name);
  if (found !== undefined) {
    if (kind === 'create') return { world, answer: { code: 'already_exists' } };
    const views = changed(world.views, handle, viewOf(world, found, undefined));
    return { world: { ...world, views }, answer: { value: sessionText(world, found) } };
  }
  const revision = (world.revisions.get(name) ?? 0) + 1;
  const session: ModelSession = {
    key,
    created: revision,
    revision,
    lastUpdateTime: rules.hasExactTimes ? now : 0,
    state: withDelta({}, partOf(state, 'session')),
    events: [],
  };
  const stored = withSession(withScopes(world, key.appName, key.userId, state), session);
  const views = changed(stored.views, handle, viewOf(stored, session, undefined));
  return { world: { ...stored, views }, answer: { value: sessionText(stored, session) } };
}

function append(
  world: World,
  call: Call,
  { key, events: specs, handle }: Operation & { kind: 'append' },
  rules: Rules,
): Step {
  const session = world.sessions.get(sessionName(key));
  const view = world.views.get(handle);
  if (session === undefined || view?.created !== session.created) {
    return { world, answer: { code: 'not_found' } };
  }
  const writes: Write[] = specs.map((spec) => ({ ...spec, text: storedText(spec) }));
  const { world: after, session: grown, unchanged } = withEvents(world, session, writes, call, rules); // prettier-ignore
  const isStale = session.revision > view.revision;
  const isPerhapsCurrent = view.untold === session.revision;
  const { outcome } = call;
  const isRefused = outcome.kind === 'failed' && outcome.code === 'stale_session';
  const mayRefuse = isStale && (!isPerhapsCurrent || isRefused);
  if (call.policy === 'reject' && mayRefuse && unchanged.size < specs.length) {
    return { world, answer: { code: 'stale_session' } };
  }
  const stored = mergedState(world, session);
  const told = viewAfter(view, session, grown, stored, writes, unchanged, call, specs);
  return { world: { ...after, views: changed(after.views, handle, told) }, answer: {} };
}

/** A world in which a call has happened that nobody told its caller of. */
export function untold(before: World, after: World, { operation }: Call): World {
  const { views } = before;
  if (operation.kind !== 'append') return { ...after, views };
  const name = sessionName(operation.key);
  const view = views.get(operation.handle);
  const old = before.sessions.get(name)?.revision;
  if (view === undefined || (old !== view.revision && old !== view.untold)) {
    return { ...after, views };
  }
  const waiting = { ...view, untold: after.sessions.get(name)?.revision };
  return { ...after, views: changed(views, operation.handle, waiting) };
}

/** As {@link untold}, but the handle has learnt of it: all by merging, else only of the time and the revision. */
export function noticed(before: World, after: World, call: Call): World {
  const { operation } = call;
  const view = operation.kind === 'append' ? before.views.get(operation.handle) : undefined;
  if (operation.kind !== 'append' || view === undefined || call.policy === 'merge') return after;
  const session = after.sessions.get(sessionName(operation.key));
  const { revision, lastUpdateTime } = session ?? view;
  const told = { ...view, revision, lastUpdateTime, untold: undefined };
  return { ...after, views: changed(before.views, operation.handle, told) };
}

/** What the handle shows after an append of its own. */
function viewAfter(
  view: View,
  before: ModelSession,
  after: ModelSession,
  /** What a reader saw before the append. */
  stored: StateShape,
  writes: readonly Write[],
  unchanged: ReadonlySet<number>,
  { policy }: Call,
  specs: readonly EventSpec[],
): View {
  const events = [...view.events];
  let { state, told } = view;
  const given = { events: new Map(Object.entries(view.given.events)), keys: new Map(Object.entries(view.given.keys)) }; // prettier-ignore
  const put = (id: string, text: string): void => {
    const position = events.findIndex((event) => event.id === id);
    if (position >= 0) events[position] = { id, text };
    else events.push({ id, text });
  };
  if (policy === 'merge') {
    const missed = before.events.filter((event) => event.revision > view.revision);
    for (const { id, text, seq } of missed) {
      if (seq > view.revision || events.some((event) => event.id === id)) put(id, text);
    }
    missed.sort((a, b) => a.revision - b.revision);
    for (const { delta } of missed) state = withDelta(state, delta);
    // The keys of what stood there before are in no delta any more.
    if (missed.some(({ seq, revision }) => seq !== revision)) {
      const gone = missed.flatMap(({ delta }) => Object.keys(delta)).filter((key) => !Object.hasOwn(stored, key)); // prettier-ignore
      const removed = gone.map((key) => [key, State.REMOVED]);
      state = withDelta(withDelta(state, Object.fromEntries(removed) as StateShape), stored);
    }
    told = before.revision;
  }
  let { revision } = unchanged.size < writes.length ? after : view;
  if (policy === 'merge') revision = after.revision;
  let written = after.revision - (writes.length - unchanged.size);
  for (const [number, { id, text }] of writes.entries()) {
    const isWritten = !unchanged.has(number);
    const stored = isWritten ? ++written : before.events.find((event) => event.id === id)!.revision;
    revision = Math.max(revision, stored);
    const isLater = (than = 0) => stored > Math.max(told, than);
    if (isLater(given.events.get(id)) || !events.some((event) => event.id === id)) put(id, text);
    if (isLater(given.events.get(id))) given.events.set(id, stored);
    for (const [key, value] of Object.entries(specs[number]!.delta)) {
      if (!isLater(given.keys.get(key))) continue;
      given.keys.set(key, stored);
      state = withDelta(state, Object.fromEntries([[key, value]]));
    }
    if (stored === told + 1) told = stored;
  }
  const { lastUpdateTime } = after;
  return {
    ...view,
    revision,
    untold: undefined,
    lastUpdateTime,
    events,
    state,
    told,
    given: { events: Object.fromEntries(given.events), keys: Object.fromEntries(given.keys) },
  };
}

interface Write {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly delta: StateShape;
}

/** Stores events, where they are not there already. */
function withEvents(
  world: World,
  session: ModelSession,
  writes: readonly Write[],
  { now }: Call,
  { hasExactTimes }: Rules,
): { world: World; session: ModelSession; unchanged: Set<number> } {
  let { revision, lastUpdateTime, state } = session;
  let after = world;
  const events: ModelEvent[] = [...session.events];
  const unchanged = new Set<number>();
  for (const [number, { id, text, timestamp, delta }] of writes.entries()) {
    const position = events.findIndex((event) => event.id === id);
    const stored = events[position];
    if (stored?.text === text) {
      unchanged.add(number);
      continue;
    }
    revision += 1;
    if (hasExactTimes) lastUpdateTime = Math.max(lastUpdateTime, Math.min(timestamp, now));
    const row = { id, text, delta, seq: stored?.seq ?? revision, revision };
    if (stored === undefined) events.push(row);
    else events[position] = row;
    state = withDelta(state, partOf(delta, 'session'));
    after = withScopes(after, session.key.appName, session.key.userId, delta);
  }
  if (unchanged.size === writes.length) return { world, session, unchanged };
  const grown = { ...session, revision, lastUpdateTime, state, events };
  return { world: withSession(after, grown), session: grown, unchanged };
}

function update(
  world: World,
  call: Call,
  { appName, userId, sessionId, delta }: Operation & { kind: 'update' },
  rules: Rules,
): Step {
  if (userId === undefined || sessionId === undefined) {
    return { world: withScopes(world, appName, userId, delta), answer: {} };
  }
  const session = world.sessions.get(nameOf(appName, userId, sessionId));
  if (session === undefined) return { world, answer: { code: 'not_found' } };
  // The service gives it an id of its own, which no other event has.
  const id = `update ${call.number}`;
  const write = { id, text: updateText(delta, call), timestamp: call.now, delta };
  return { world: withEvents(world, session, [write], call, rules).world, answer: {} };
}

function withSession(world: World, session: ModelSession): World {
  const name = sessionName(session.key);
  return {
    ...world,
    sessions: changed(world.sessions, name, session),
    revisions: changed(world.revisions, name, session.revision),
  };
}

function withScopes(
  world: World,
  appName: string,
  userId: string | undefined,
  delta: StateShape,
): World {
  let { users, apps } = world;
  const [ofUser, ofApp] = [partOf(delta, 'user'), partOf(delta, 'app')];
  if (userId !== undefined && Object.keys(ofUser).length > 0) {
    const name = nameOf(appName, userId);
    users = changed(users, name, withDelta(users.get(name) ?? {}, ofUser));
  }
  if (Object.keys(ofApp).length > 0) {
    const name = nameOf(appName);
    apps = changed(apps, name, withDelta(apps.get(name) ?? {}, ofApp));
  }
  return { ...world, users, apps };
}

function viewOf(world: World, session: ModelSession, last: number | undefined): View {
  const { key, created, revision, lastUpdateTime, events } = session;
  return {
    name: sessionName(key),
    created,
    revision,
    lastUpdateTime,
    events: last === undefined ? events : events.slice(Math.max(0, events.length - last)),
    state: mergedState(world, session),
    told: revision,
    given: { events: {}, keys: {} },
  };
}
