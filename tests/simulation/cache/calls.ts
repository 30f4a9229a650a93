// The calls of tabs, and what they write.

import type { StateShape } from '../../../js/index.js';
import { APP, type Handle, type Tab } from './device.js';
import type { NewWrite, Write } from './journal.js';
import { callHistory } from './history_calls.js';
import type { Check, Play } from './play.js';
import { eventOf, REFUSED } from './server.js';
import type { Step } from './steps.js';

/** Calls the service of a tab. @returns what to check at the end of the call */
export async function call(play: Play, tab: Tab, step: Step): Promise<Check> {
  const { service, owner, device } = tab;
  const { world, journal, server } = play;
  const { s, n, keys = [], count = 0 } = step;
  const user = { appName: APP, userId: owner };
  const key = { ...user, sessionId: s };
  const name = `${owner}/${s}`;
  const value = `d${device.number}.${owner}.${n}`;
  // These need a session, and the server takes none of them if it has none.
  const isDemanding = step.do === 'describe' || step.do === 'session state';
  const isOptional = isDemanding && !(await play.hasSession(tab, s));
  if (isOptional) journal.missing.add(name);
  /** Notes what is written. @returns the end of the call */
  const begin = (writes: readonly NewWrite[]): Check => {
    const optional = isOptional ? writes.map((write) => ({ ...write, isOptional })) : writes;
    const begun = journal.begin(device.number, owner, optional);
    for (const write of begun) {
      const problem = journal.checkBase(write);
      if (problem !== undefined) world.fail(`tab ${tab.number}: ${problem}`);
    }
    return () => acknowledge(play, tab, begun);
  };
  const beginDeletion = (...what: string[]): Check => {
    const begun = journal.beginDeletion(device.number, ...what);
    return () => journal.end(begun);
  };
  const deltaOf = (value: string): StateShape => Object.fromEntries(keys.map((key) => [key, value])); // prettier-ignore
  /** The writes of a delta. */
  const writesOf = (delta: StateShape, session?: string, eventId?: string): NewWrite[] =>
    Object.entries(delta).flatMap(([key, value]) => {
      // A rewind and a repeated message bring earlier values back.
      if (server.reference !== undefined) return [];
      const shared = key.startsWith('user:') ? `${key} of ${owner}` : key;
      const register = /^(user|app):/.test(key) ? shared : `${name} state ${key}`;
      return { register, value: String(value), session, eventId };
    });
  /** Checks the ids of events that were read. */
  const requireOrder = (events: readonly { id: string }[] = []): void => {
    const problem = journal.checkOrder(name, events.map(({ id }) => id)); // prettier-ignore
    if (problem !== undefined) world.fail(`tab ${tab.number}: ${problem}`);
  };
  // A step of a schedule whose fork is not there.
  if (s.startsWith('f') && !(await play.hasSession(tab, s))) return undefined;
  switch (step.do) {
    case 'create':
    case 'open': {
      const state = deltaOf(value);
      begin(writesOf(state, name).map((write) => ({ ...write, isOptional: true })));
      const session = await (step.do === 'create'
        ? service.createSession({ ...key, state })
        : service.getOrCreateSession({ ...key, state }));
      return () => void play.addHandle(tab, name, session);
    }
    case 'read': {
      const reader = { began: journal.now(), device: device.number, owner };
      const session = await service.getSession(key);
      const mayBeMissing =
        journal.missing.has(name) && (await server.service.getSession(key)) === undefined;
      return () => {
        const ids = session?.events.map(({ id }) => id) ?? [];
        const problem = device.isLossy ? undefined : journal.checkRead(name, ids, reader);
        if (problem !== undefined) world.fail(`tab ${tab.number}: ${problem}`);
        if (session !== undefined) play.addHandle(tab, name, session, mayBeMissing);
      };
    }
    case 'window': {
      const session = await service.getSession({ ...key, config: { numRecentEvents: count } });
      return () => requireOrder(session?.events);
    }
    case 'page': {
      const newest = await service.listEvents({ ...key, limit: count, withCount: false });
      const { before } = newest;
      const older = before && (await service.listEvents({ ...key, limit: count, before }));
      return () => requireOrder([...(older ? older.events : []), ...newest.events]);
    }
    case 'append':
    case 'edit': {
      const { session, mayBeMissing } = await handleOf(play, tab, name, key);
      const old = step.do === 'edit' && session.events[count % session.events.length];
      const events = Array.from({ length: step.do === 'edit' ? 1 : count }, (_, index) => {
        const own = `${value}.${index}`;
        const text = step.isRefused ? `${own} ${REFUSED}` : own;
        return eventOf(old ? old.id : `e${n}.${index}`, text, deltaOf(own));
      });
      if (server.reference !== undefined) {
        for (const event of events) event.invocationId = `i${n}`;
        server.reference.expect(events);
      }
      const writes = events.flatMap(({ id, content, actions }) => [
        textWrite(name, id, content!.parts![0]!.text!, !old),
        ...writesOf(actions.stateDelta, name, id),
      ]);
      const mayBeRefused = step.isRefused === true || old !== false;
      const isOptional = mayBeMissing;
      const end = begin(writes.map((write) => ({ ...write, mayBeRefused, isOptional })));
      await service.appendEvents({ session, events });
      return end;
    }
    case 'describe': {
      // A label has no dots.
      const label = value.replaceAll('.', '-');
      const end = begin([
        { register: `${name} title`, value, session: name },
        { register: `${name} label x`, value: label, session: name },
      ]);
      await service.updateSession(key, { title: value, labels: { x: label } });
      return end;
    }
    case 'delete': {
      const end = beginDeletion(name);
      await service.deleteSession(key);
      return end;
    }
    case 'delete user': {
      const end = beginDeletion(`${owner}/s`, `${owner}/t`, `user:* of ${owner}`);
      await service.deleteUser(user);
      return end;
    }
    case 'clear user state': {
      const end = beginDeletion(`user:* of ${owner}`);
      await service.deleteUserState(user);
      return end;
    }
    case 'session state':
    case 'user state':
    case 'app state': {
      const [first, second, owned, session] = {
        'session state': ['k', 'm', key, name] as const,
        'user state': ['user:a', 'user:c', user, undefined] as const,
        'app state': ['app:a', 'app:c', { appName: APP }, undefined] as const,
      }[step.do];
      const changed = n % 2 === 0 ? first : second;
      let end: Check;
      /** Writes a value that tells from which one it was computed. */
      const compute = (state: StateShape): StateShape => {
        const base = state[changed] as string | undefined;
        const [, , step = 'none'] = base?.split('.') ?? [];
        const delta = { [changed]: `${value}.${step}` };
        const [write] = writesOf(delta, session);
        end = begin(write === undefined ? [] : [{ ...write, base: { value: base } }]);
        return delta;
      };
      const delta = { [changed]: value };
      if (step.isComputed !== true) end = begin(writesOf(delta, session));
      await service.updateState({ ...owned, stateDelta: step.isComputed ? compute : delta });
      return end;
    }
    case 'list':
      await service.listSessions(user);
      return undefined;
    case 'sync':
      await tab.cache?.sync();
      return undefined;
    case 'forget':
      play.forget(tab);
      await tab.cache?.forget();
      return () => play.forget(tab);
    case 'settle':
      await settleRefusal(play, tab, step.how!);
      return undefined;
    default:
      return callHistory({ play, tab, step, key, name, value });
  }
}

function textWrite(session: string, eventId: string, value: string, isNew = false): NewWrite {
  return { register: `${session} ${eventId}`, value, session, eventId, isNew };
}

/** Notes that writes are acknowledged. */
function acknowledge({ journal, world }: Play, { isThrough }: Tab, writes: readonly Write[]): void {
  journal.end(writes);
  for (const write of writes) {
    const isText = write.register === `${write.session} ${write.eventId}`;
    const isThere = journal.isReplaced(write) || journal.isDeleted(write) || write.isGivenUp;
    if (!isThrough || !isText || isThere) continue;
    world.fail(`${write.value} was acknowledged by "through", and the server lacks it`);
  }
}

/** The newest handle of a session, or a new one. */
async function handleOf(
  play: Play,
  tab: Tab,
  name: string,
  key: { appName: string; userId: string; sessionId: string },
): Promise<Handle> {
  // prettier-ignore
  const known = tab.handles.findLast((handle) => handle.name === name);
  return known ?? play.addHandle(tab, name, await tab.service.getOrCreateSession(key));
}

/** Decides about the first thing that was refused. @returns whether there was one */
export async function settleRefusal(
  { journal, world }: Play,
  { cache, device, owner, number }: Tab,
  how: 'drop' | 'retry',
): Promise<boolean> {
  if (cache === undefined) return false;
  const { outbox } = cache;
  const refused = (await outbox.list()).find(({ error }) => error !== undefined);
  if (refused === undefined) return false;
  const { key, events, error, blocked = [] } = refused;
  const { userId, sessionId } = key;
  const session = `${userId}/${sessionId}`;
  const id = error!.eventId ?? events[0]?.id;
  const all = events.map(({ id }) => id);
  const isWhole = error!.eventId === undefined;
  // A rewind is given up with its message.
  const ids = isWhole ? all : all.filter((id) => !blocked.includes(id));
  world.note(`tab ${number}: ${how} of ${session} ${ids.join()}: ${error!.message}`);
  if (!journal.explainsRefusal(session, id, error!.code)) {
    world.fail(`tab ${number}: ${session} ${ids.join()} was refused: ${error!.message}`);
  }
  const giveUp = (isAll = false): void =>
    journal.giveUp(
      (write) =>
        write.device === device.number &&
        write.owner === owner &&
        (isAll || write.eventId === undefined || ids.includes(write.eventId)) &&
        (sessionId === undefined || write.session === session),
    );
  if (how === 'retry') {
    for (const retried of all) journal.movedEvents.add(retried);
    // A write of a state tells no event.
    for (const write of journal.writes) {
      const isOwn = write.device === device.number && write.owner === owner;
      if (isOwn && write.eventId === undefined && write.session === session) write.isMoved = true;
    }
    await outbox.retry(refused);
  } else {
    // Another tab may read before the call ends.
    giveUp();
    // What has waited for it comes behind what was sent meanwhile.
    for (const moved of blocked) journal.movedEvents.add(moved);
    await outbox.drop(refused, error!.eventId);
    giveUp();
    journal.dropped.add(`${device.number} ${session}`);
    for (const dropped of ids) journal.droppedEvents.add(dropped);
    // Everything of the entry is dropped, also what another tab has written since the list.
    if (isWhole) giveUp(true);
  }
  return true;
}
