// The end of a schedule: the network heals, all tabs sync, and both ends must be equal.

import { isSessionError, type Session } from '../../../js/index.js';
import { canonical, difference } from '../model/canonical.js';
import { settleRefusal } from './calls.js';
import { APP, Tab } from './device.js';
import type { Play } from './play.js';
import { eventOf, OWNERS, textOf } from './server.js';

/** The most milliseconds that a call may take. */
const PATIENCE_MS = 600_000;

/** Milliseconds in which a change reaches all devices by the feed. */
const FEED_MS = 4000;

/** Milliseconds in which all tabs of a device forget. */
const FORGET_MS = 100;

/** The most handles that are probed in a tab. */
const MOST_PROBED = 3;

export async function settle(play: Play): Promise<void> {
  const { world, journal, server } = play;
  heal(play);
  const isQuiet = (): boolean => play.pending.length === 0 && play.network.underWay === 0;
  const isQuietInTime = await world.until(isQuiet, PATIENCE_MS);
  if (!isQuietInTime) return world.fail(`these calls never end: ${play.pending.join()}`);
  // An order to forget may have come last.
  await world.pass(FORGET_MS);
  const tabs = await openAll(play);
  // Tabs with one owner on one device share their data.
  const nameOf = (tab: Tab): string => `${tab.device.number} ${tab.owner}`;
  const lasts = [...new Map(tabs.map((tab) => [nameOf(tab), tab])).values()];
  for (const tab of lasts) {
    // A tab follows what it reads.
    if (play.isCalm)
      await call(play, tab, 'a read', () => read(tab.service, tab.owner, server.sessions));
    do await call(play, tab, 'a sync', () => afterFaults(async () => tab.cache?.sync()));
    while (await call(play, tab, 'a drop', () => settleRefusal(play, tab, 'drop')));
  }
  await receive(play, lasts);
  for (const tab of lasts) {
    const [entry] = await call(
      play,
      tab,
      'a list',
      async () => (await tab.cache?.outbox.list()) ?? [],
    );
    if (entry !== undefined) world.fail(`tab ${tab.number} still has ${JSON.stringify(entry)}`);
    await compare(play, tab);
  }
  const problem =
    journal.check() ?? (await lossAtServer(play)) ?? (await server.compareHistories());
  if (problem !== undefined) world.fail(problem);
  if (world.problem !== undefined) return;
  await probeHandles(play, tabs);
  const isSent = (): boolean =>
    tabs.every(({ cache }) => (cache?.status.pending.length ?? 0) === 0);
  if (!(await world.until(isSent, PATIENCE_MS))) world.fail('the probes are never sent');
  await receive(play, lasts);
  for (const tab of tabs) await call(play, tab, 'a close', () => tab.close());
  for (const { number, device, owner, isCached } of lasts) {
    // A reload without a network.
    if (device.isBounded || !isCached) continue;
    const reader = new Tab(number, device, owner);
    const request: typeof fetch = (input) => {
      world.fail(`a cache without a network asks for ${input as string}`);
      return Promise.reject(new TypeError('fetch failed'));
    };
    await world.act(reader, () => reader.open(request, 'cache-only'));
    await compare(play, reader);
    await compareLists(play, reader);
    await call(play, reader, 'a close', () => reader.close());
  }
}

function heal({ devices, tabs, world, server }: Play): void {
  server.runningUntil.clear();
  for (const device of devices) {
    Object.assign(device, { isOffline: false, localMs: 0, quotaFaults: 0 });
    device.fates.length = 0;
  }
  for (const tab of tabs.values()) Object.assign(tab, { frozenUntil: 0, awaitsToCrash: Infinity });
  world.note('the network heals');
}

/** Opens a tab in place of each crashed one, and one for each owner of a device that has none. */
async function openAll(play: Play): Promise<Tab[]> {
  for (const number of play.tabs.keys()) await play.tab(number);
  for (const device of play.devices) {
    for (const owner of device.owners) {
      const isOpen = [...play.tabs.values()].some(
        (tab) => tab.device === device && tab.owner === owner,
      );
      // Numbers from 4 on are of the same device again.
      if (!isOpen) await play.tab(4 + device.number * 2 + 4 * play.tabs.size, owner);
    }
  }
  return [...play.tabs.values()];
}

/** Calls as a tab, and lets time pass until it has settled. */
async function call<T>({ world }: Play, tab: Tab, what: string, run: () => Promise<T>): Promise<T> {
  let result: { value: T } | { error: unknown } | undefined;
  await world.act(tab, () => {
    run().then(
      (value) => (result = { value }),
      (error: unknown) => (result = { error }),
    );
  });
  await world.until(() => result !== undefined, PATIENCE_MS);
  if (result === undefined) throw new Error(`${what} of tab ${tab.number} never ends`);
  if ('value' in result) return result.value;
  throw new Error(`${what} of tab ${tab.number} fails`, { cause: result.error });
}

/** Lets the tabs have what others have sent: by the feed alone, if it was never disturbed. */
async function receive(play: Play, tabs: readonly Tab[]): Promise<void> {
  for (const tab of play.isCalm ? [] : tabs) {
    await call(play, tab, 'a sync', () => afterFaults(async () => tab.cache?.sync()));
  }
  // A sync does not wait for a first list, which brings sessions that are not here.
  await play.world.pass(FEED_MS);
}

/** Calls a tab until no attempt from before the network healed may fail. */
async function afterFaults<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < 4; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isSessionError(error)) throw error;
      // Another tab tells no status.
      if (!['connection_lost', 'quota_exceeded', 'remote'].includes(error.code)) throw error;
    }
  }
  return run();
}

/** Compares the sessions and states of a tab with the server. */
async function compare(play: Play, tab: Tab): Promise<void> {
  const { server } = play;
  const ids = server.sessions;
  const expected = await read(server.reader(tab.owner), tab.owner, ids);
  // What was forgotten is fetched.
  const actual = await call(play, tab, 'a read', () =>
    afterFaults(() => read(tab.service, tab.owner, ids)),
  );
  for (const [index, name] of [...ids, 'user state', 'app state'].entries()) {
    requireEqual(play, tab, name, actual[index], expected[index]);
  }
}

/** Reads the sessions and states of a user. */
function read(
  service: Pick<Tab['service'], 'getSession' | 'getUserState' | 'getAppState'>,
  userId: string,
  sessionIds: readonly string[],
): Promise<(object | undefined)[]> {
  const user = { appName: APP, userId };
  return Promise.all([
    ...sessionIds.map((sessionId) => service.getSession({ ...user, sessionId })),
    service.getUserState(user),
    service.getAppState(user),
  ]);
}

async function compareLists(play: Play, tab: Tab): Promise<void> {
  const user = { appName: APP, userId: tab.owner };
  const { sessions: expected } = await play.server.reader(tab.owner).listSessions(user);
  const { sessions } = await call(play, tab, 'a list', () => tab.service.listSessions(user));
  requireEqual(play, tab, 'list', sessions.map(textOf), expected.map(textOf));
}

function requireEqual(
  { world }: Play,
  { number, owner }: Tab,
  name: string,
  actual: object | undefined,
  expected: object | undefined,
): void {
  const [shown, text] = [textOf(actual), textOf(expected)];
  if (shown === text) return;
  world.fail(`tab ${number} shows ${name} of ${owner} ${difference(shown, text)}`);
}

/** @returns what the server's sessions lack */
async function lossAtServer({ server, journal }: Play): Promise<string | undefined> {
  for (const userId of OWNERS) {
    for (const sessionId of server.sessions) {
      const session = await server.service.getSession({ appName: APP, userId, sessionId });
      const ids = session?.events.map(({ id }) => id) ?? [];
      const problem = journal.checkRead(`${userId}/${sessionId}`, ids);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** Appends through open handles. Then each handle has what a read shows. */
async function probeHandles(play: Play, tabs: readonly Tab[]): Promise<void> {
  const handles = tabs.flatMap((tab) =>
    tab.handles
      .filter(({ isWhole }) => isWhole)
      .slice(-MOST_PROBED)
      .map((handle) => ({ ...handle, tab })),
  );
  for (const [index, { tab, name, session }] of handles.entries()) {
    const event = eventOf(`probe${index}`, `d${tab.device.number}.${tab.owner}.1${index}`);
    event.invocationId = `probe${index}`;
    play.server.reference?.expect([event]);
    const key = { appName: APP, userId: tab.owner, sessionId: session.id };
    const read = await call(play, tab, 'an append', async () => {
      try {
        const append = () => afterFaults(() => tab.service.appendEvent({ session, event }));
        await append();
        // The answer to a write "through" may bring events of others after the handle's.
        if (tab.isThrough) await append();
      } catch (error) {
        if (!isSessionError(error, 'not_found')) throw error;
        // The session or its copy may have been deleted, or its creation refused.
        const { device } = tab;
        const isGone =
          play.journal.hasDeletion(name) ||
          play.journal.missing.has(name) ||
          play.journal.dropped.has(`${device.number} ${name}`) ||
          play.hasForgotten(tab) ||
          device.isLossy;
        if (isGone || (await tab.service.getSession(key)) === undefined) return undefined;
        throw error;
      }
      const { cache, service } = tab;
      return cache
        ? cache.getSession({ ...key, config: { reads: 'cache-only' } })
        : service.getSession(key);
    });
    if (read === undefined) continue;
    const expected = handleText(play, name, read, read);
    const actual = handleText(play, name, session, read);
    if (actual === expected) continue;
    play.world.fail(`a handle of tab ${tab.number} shows ${name} ${difference(actual, expected)}`);
  }
}

/**
 * What a handle must show: all events but those that were dropped, and the session's own state. Keys that only the
 * handle has stay there.
 */
function handleText({ journal }: Play, name: string, session: Session, read: Session): string {
  // A change of the state alone was taken back, because there was no session. A handle keeps its event.
  const isTakenBack = ({ id, content }: Session['events'][number]): boolean =>
    journal.missing.has(name) && !content && read.events.every((event) => event.id !== id);
  const kept = session.events.filter(
    (event) => !journal.isDropped(name, event.id) && !isTakenBack(event),
  );
  // An event that was unsent when others came stands before them in the handle. A value of a delta that a later write has
  // replaced is not sent, so deltas may differ.
  const events = kept.map(({ id, content }) => canonical([id, content])).sort();
  // A handle learns a state from the deltas of the events that it had missed.
  const isTold = (key: string): boolean =>
    !/^(user|app):/.test(key) &&
    read.events.some(({ actions }) => actions.stateDelta[key] === read.state[key]);
  const keys = Object.keys(read.state).filter(isTold);
  return canonical([events, keys.map((key) => [key, session.state[key]])]);
}
