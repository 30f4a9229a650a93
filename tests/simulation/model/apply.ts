// The effect of an operation on one possible world, as the contract defines it.

import { State, type StateShape } from '../../../js/index.js';
import { type Call, countingDelta, type EventSpec, type Operation } from '../operation.js';
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

/** The promises of the contract that a storage may weaken. */
export interface Rules {
  /** Whether `lastUpdateTime` is exact. Otherwise it is not compared. */
  readonly hasExactTimes: boolean;
  /** Whether user and app states can only be read through a session. */
  readonly sharedStatesNeedSessions?: boolean;
}

/** The result of an operation in a world, and the world after it. */
export interface Step {
  readonly world: World;
  /** A canonical text, or the code of the error. */
  readonly result: { readonly value?: string | undefined; readonly code?: string };
}

export function apply(world: World, call: Call, rules: Rules): Step {
  const { operation } = call;
  switch (operation.kind) {
    case 'create':
    case 'getOrCreate':
      return create(world, call, operation, rules);
    case 'get': {
      const session = world.sessions.get(sessionName(operation.key));
      if (session === undefined) return { world, result: { value: undefined } };
      const view = viewOf(world, session, operation.last);
      return {
        world: { ...world, views: changed(world.views, operation.handle, view) },
        result: { value: sessionText(world, session, operation.last) },
      };
    }
    case 'list':
      return { world, result: { value: listText(world, operation, rules) } };
    case 'delete': {
      const sessions = changed(world.sessions, sessionName(operation.key), undefined);
      return { world: { ...world, sessions }, result: {} };
    }
    case 'append':
      return append(world, call, operation, rules);
    case 'update':
      return update(world, call, operation, rules);
    case 'userState': {
      const { users } = readable(world, rules);
      return { world, result: { value: scopeText(users.get(userName(operation))) } };
    }
    case 'appState': {
      const { apps } = readable(world, rules);
      return { world, result: { value: scopeText(apps.get(nameOf(operation.appName))) } };
    }
    case 'deleteUser': {
      const { appName, userId } = operation;
      const sessions = [...world.sessions].filter(
        ([, { key }]) => key.appName !== appName || key.userId !== userId,
      );
      const users = changed(world.users, userName(operation), undefined);
      return { world: { ...world, sessions: new Map(sessions), users }, result: {} };
    }
    case 'deleteUserState':
      return {
        world: { ...world, users: changed(world.users, userName(operation), undefined) },
        result: {},
      };
    case 'deleteAppState':
      return {
        world: { ...world, apps: changed(world.apps, nameOf(operation.appName), undefined) },
        result: {},
      };
  }
}

/** The world without the states that cannot be read. */
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
    if (kind === 'create') return { world, result: { code: 'already_exists' } };
    const views = changed(world.views, handle, viewOf(world, found, undefined));
    return { world: { ...world, views }, result: { value: sessionText(world, found) } };
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
  return { world: { ...stored, views }, result: { value: sessionText(stored, session) } };
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
    return { world, result: { code: 'not_found' } };
  }
  const writes: Write[] = specs.map((spec) => ({ ...spec, text: storedText(spec) }));
  const { world: after, session: grown, unchanged } = withEvents(world, session, writes, rules);
  const isStale = session.revision > view.revision;
  const isPerhapsCurrent = view.unacknowledged === session.revision;
  const { outcome } = call;
  const isRefused = outcome.kind === 'failed' && outcome.code === 'stale_session';
  const mayRefuse = isStale && (!isPerhapsCurrent || isRefused);
  if (call.policy === 'reject' && mayRefuse && unchanged.size < specs.length) {
    return { world, result: { code: 'stale_session' } };
  }
  const stored = mergedState(world, session);
  const newView = viewAfter(view, session, grown, stored, writes, unchanged, call, specs);
  return { world: { ...after, views: changed(after.views, handle, newView) }, result: {} };
}

/** The world after a call that took effect without its caller knowing. */
export function applyUnacknowledged(before: World, after: World, { operation }: Call): World {
  const { views } = before;
  if (operation.kind !== 'append') return { ...after, views };
  const name = sessionName(operation.key);
  const view = views.get(operation.handle);
  const old = before.sessions.get(name)?.revision;
  if (view === undefined || (old !== view.revision && old !== view.unacknowledged)) {
    return { ...after, views };
  }
  const waiting = { ...view, unacknowledged: after.sessions.get(name)?.revision };
  return { ...after, views: changed(views, operation.handle, waiting) };
}

/**
 * Like {@link applyUnacknowledged}, but the retry of an earlier append has read the session after it. By `merge` it gives
 * the handle all of it, otherwise only the time: the handle's revision stays that of its own event.
 */
export function applyNoticed(before: World, after: World, call: Call): World {
  const { operation } = call;
  if (operation.kind !== 'append' || call.policy === 'merge') return after;
  const world = applyUnacknowledged(before, after, call);
  const view = world.views.get(operation.handle);
  const { lastUpdateTime } = after.sessions.get(sessionName(operation.key)) ?? {};
  if (view === undefined || lastUpdateTime === undefined) return world;
  const noticed = { ...view, lastUpdateTime };
  return { ...world, views: changed(world.views, operation.handle, noticed) };
}

/** The view of a handle after its own append. */
function viewAfter(
  view: View,
  before: ModelSession,
  after: ModelSession,
  /** The merged state before the append. */
  stored: StateShape,
  writes: readonly Write[],
  unchanged: ReadonlySet<number>,
  { policy }: Call,
  specs: readonly EventSpec[],
): View {
  const events = [...view.events];
  let { state, knownUntil } = view;
  const laterChanges = { events: new Map(Object.entries(view.laterChanges.events)), keys: new Map(Object.entries(view.laterChanges.keys)) }; // prettier-ignore
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
    // The keys of a replaced version are in no delta any more.
    if (missed.some(({ seq, revision }) => seq !== revision)) {
      const removedKeys = missed.flatMap(({ delta }) => Object.keys(delta)).filter((key) => !Object.hasOwn(stored, key)); // prettier-ignore
      const removals = removedKeys.map((key) => [key, State.REMOVED]);
      state = withDelta(withDelta(state, Object.fromEntries(removals) as StateShape), stored);
    }
    knownUntil = before.revision;
  }
  let { revision } = unchanged.size < writes.length ? after : view;
  if (policy === 'merge') revision = after.revision;
  let written = after.revision - (writes.length - unchanged.size);
  for (const [number, { id, text }] of writes.entries()) {
    const isWritten = !unchanged.has(number);
    const stored = isWritten ? ++written : before.events.find((event) => event.id === id)!.revision;
    revision = Math.max(revision, stored);
    const isLater = (than = 0) => stored > Math.max(knownUntil, than);
    if (isLater(laterChanges.events.get(id)) || !events.some((event) => event.id === id))
      put(id, text);
    if (isLater(laterChanges.events.get(id))) laterChanges.events.set(id, stored);
    for (const [key, value] of Object.entries(specs[number]!.delta)) {
      if (!isLater(laterChanges.keys.get(key))) continue;
      laterChanges.keys.set(key, stored);
      state = withDelta(state, Object.fromEntries([[key, value]]));
    }
    if (stored === knownUntil + 1) knownUntil = stored;
  }
  const { lastUpdateTime } = after;
  return {
    ...view,
    revision,
    unacknowledged: undefined,
    lastUpdateTime,
    events,
    state,
    knownUntil,
    laterChanges: {
      events: Object.fromEntries(laterChanges.events),
      keys: Object.fromEntries(laterChanges.keys),
    },
  };
}

interface Write {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly delta: StateShape;
}

/** Stores the events that are not stored yet. */
function withEvents(
  world: World,
  session: ModelSession,
  writes: readonly Write[],
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
    if (hasExactTimes) lastUpdateTime = Math.max(lastUpdateTime, timestamp);
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
  { appName, userId, sessionId, delta: given, counter }: Operation & { kind: 'update' },
  rules: Rules,
): Step {
  const deltaFor = (state: StateShape): StateShape =>
    counter === undefined ? given : countingDelta(given, counter, state);
  if (userId === undefined || sessionId === undefined) {
    const user = userId === undefined ? {} : world.users.get(nameOf(appName, userId));
    const delta = deltaFor({ ...user, ...world.apps.get(nameOf(appName)) });
    return { world: withScopes(world, appName, userId, delta), result: {} };
  }
  const session = world.sessions.get(nameOf(appName, userId, sessionId));
  if (session === undefined) return { world, result: { code: 'not_found' } };
  const delta = deltaFor(mergedState(world, session));
  // The service gives it a new id.
  const id = `update ${call.number}`;
  const write = { id, text: updateText(delta, call), timestamp: call.now, delta };
  return { world: withEvents(world, session, [write], rules).world, result: {} };
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
    knownUntil: revision,
    laterChanges: { events: {}, keys: {} },
  };
}
