// Walks through sessions and events against models, while others write. They need no host, so pages of browsers run them too.

import { isSessionError, type Session, type SessionService } from '../../../../js/index.js';
import { randomNumbers } from './list_model.js';
import { imported } from '../fixture.js';

const SHOP = { appName: 'shop' };
const KEY = { ...SHOP, userId: 'ada', sessionId: 'walked' };
const LABELS = { pinned: 'yes' };

/** What the models need of a service. */
export type WalkedService = Pick<
  SessionService,
  | 'createSession'
  | 'deleteSession'
  | 'appendEvent'
  | 'appendEvents'
  | 'updateSession'
  | 'sessions'
  | 'events'
>;

/** Services over one storage, and a program beside them that sets the time of a session by a clock of its own. */
export interface Walked {
  readonly services: readonly WalkedService[];
  readonly setTime?: ((session: Session, time: number) => unknown) | undefined;
}

/**
 * Walks through all sessions or those with a label, while the services create, append, rename, label and delete between
 * the steps.
 *
 * @param clock the time of the services, which passes
 * @returns what is wrong: a session that stays must be given exactly once, and one that never had the label not at all
 */
export async function findLostSession(
  { services, setTime }: Walked,
  seed: number,
  clock: { now: number },
): Promise<string | undefined> {
  const random = randomNumbers(seed);
  const present = new Map<string, [Session, WalkedService]>();
  const labels = random(2) === 0 ? LABELS : undefined;
  const labelled = new Set<string>();
  const everLabelled = new Set<string>();
  let created = 0;
  const create = async () => {
    const sessionId = `s${(created += 1)}`;
    const userId = random(3) === 0 ? 'bob' : 'ada';
    const service = services[random(services.length)]!;
    const session = await service.createSession({ ...SHOP, userId, sessionId });
    present.set(sessionId, [session, service]);
    if (random(2) === 0) await label(session, service);
  };
  const label = async ({ userId, id }: Session, service: WalkedService) => {
    const isLabelled = !labelled.delete(id);
    if (isLabelled) for (const set of [labelled, everLabelled]) set.add(id);
    const key = { ...SHOP, userId, sessionId: id };
    await service.updateSession(key, { labels: isLabelled ? LABELS : null });
  };
  const act = async (staying: Set<string>) => {
    clock.now += random(3) * 0.5;
    const [id, found] = [...present][random(present.size)] ?? [];
    const step = random(6);
    if (step === 0 || found === undefined || id === undefined) return create();
    const [session, service] = found;
    const key = { ...SHOP, userId: session.userId, sessionId: id };
    if (step === 1) {
      staying.delete(id);
      present.delete(id);
      return service.deleteSession(key);
    }
    if (step === 3) {
      if (labels !== undefined) staying.delete(id);
      return label(session, service);
    }
    if (step === 2) return service.updateSession(key, { title: `Title ${clock.now}` });
    const timestamp = clock.now - random(4) * 1000;
    return service.appendEvent({ session, event: { invocationId: 'i', timestamp } });
  };
  for (let count = random(30); count >= 0; count -= 1) {
    clock.now += random(2) * random(30_000);
    await create();
  }
  const userId = random(2) === 0 ? 'ada' : undefined;
  const order = random(2) === 0 ? 'asc' : 'desc';
  const isListed = ([id, [{ userId: owner }]]: [string, [Session, WalkedService]]): boolean =>
    (userId ?? owner) === owner && (labels === undefined || labelled.has(id));
  const staying = new Set([...present].filter(isListed).map(([id]) => id));
  const given: string[] = [];
  const orderBy = random(3) === 0 ? 'createTime' : 'lastUpdateTime';
  const request = { ...SHOP, userId, labels, order, orderBy, limit: 1 + random(5) } as const;
  let isBehind = setTime !== undefined;
  for await (const session of services.at(-1)!.sessions(request)) {
    given.push(session.id);
    // The walk ends although others go on: they are slower than it.
    if (given.length < 60) for (let steps = random(4); steps > 0; steps -= 1) await act(staying);
    // A session that moves back while the last pass runs may be missed.
    const [id] = [...staying].filter((id) => !given.includes(id)).slice(-1);
    if (isBehind && id !== undefined && (order === 'asc' ? random(4) : given.length - 1) === 0) {
      isBehind = false;
      await setTime?.(present.get(id)![0], clock.now - random(9_000));
    }
  }
  const walk = `${orderBy} ${order}: ${given.join(' ')}`;
  if (new Set(given).size !== given.length) return `a session comes twice; ${walk}`;
  const wrong = labels && given.filter((id) => !everLabelled.has(id));
  if (wrong?.length) return `${wrong.join(' ')} never had the label; ${walk}`;
  const lost = [...staying].filter((id) => !given.includes(id));
  return lost.length > 0 ? `${lost.join(' ')} missing; ${walk}` : undefined;
}

/**
 * Walks through the events of a session in both directions, while the first service appends and replaces
 * events between the steps. The last service walks.
 *
 * @returns what is wrong: each event must come once and in order
 */
export async function findLostEvent(
  services: readonly Pick<
    WalkedService,
    'createSession' | 'appendEvent' | 'appendEvents' | 'events'
  >[],
  seed: number,
): Promise<string | undefined> {
  const random = randomNumbers(seed);
  const writer = services[0]!;
  const model = Array.from({ length: random(40) }, (_, number) => `e${number + 1}`);
  const session = await writer.createSession(KEY);
  const events = model.map((id) => ({ id, invocationId: 'i', timestamp: 1000 }));
  await writer.appendEvents({ session, events });
  for (const order of ['asc', 'desc'] as const) {
    const stored = [...model];
    const found: string[] = [];
    for await (const { id } of services.at(-1)!.events({ ...KEY, order, limit: 1 + random(7) })) {
      found.push(id);
      const action = random(6);
      if (action === 0 && model.length < 120) {
        model.push(`e${model.length + 1}`);
        await writer.appendEvent({ session, event: { invocationId: 'i', id: model.at(-1)! } });
      } else if (action === 1) {
        const replaced = { invocationId: 'i', id: model[random(model.length)]! };
        await writer.appendEvent({ session, event: { ...replaced, author: `replaced ${seed}` } });
      }
    }
    const expected = order === 'asc' ? model : stored.reverse();
    // Events that are appended during a forward walk come too, unless its last page was read before.
    const end = order === 'asc' ? Math.max(found.length, stored.length) : stored.length;
    if (found.join() !== expected.slice(0, end).join()) return `${order}: ${found.join(' ')}`;
  }
  return undefined;
}

/**
 * Deletes the sessions of a user by the first service. After the first deletion the last service appends to all of
 * them: events that are too old to change a session's time, so the request still fits it.
 *
 * @returns what is wrong: a session stays exactly if its append succeeded
 */
export async function findDeletedAppend(
  services: readonly Pick<
    SessionService,
    'createSession' | 'deleteSessions' | 'appendEvent' | 'sessions' | 'watch'
  >[],
): Promise<string | undefined> {
  const [deleting, writing] = [services[0]!, services.at(-1)!];
  // The deletions of a round may all be faster than the appends.
  for (let round = 0; round < 20; round += 1) {
    const user = { ...SHOP, userId: `deleted ${round}` };
    const sessions: Session[] = [];
    for (let number = 1; number <= 60; number += 1) {
      const key = { ...user, sessionId: `s${number}` };
      sessions.push(await writing.createSession(imported({ ...key, lastUpdateTime: number })));
    }
    const appended: string[] = [];
    const append = async (session: Session) => {
      try {
        await writing.appendEvent({ session, event: { invocationId: 'i', timestamp: 0 } });
        appended.push(session.id);
      } catch (error) {
        if (!isSessionError(error, 'not_found')) throw error;
      }
    };
    let appends: Promise<unknown> | undefined;
    const stop = deleting.watch(user, {
      onNotice: ({ type }) => {
        if (type === 'deleted') appends ??= Promise.all(sessions.map(append));
      },
    });
    const deleted = await deleting.deleteSessions(user);
    await appends;
    stop();
    const staying: string[] = [];
    for await (const { id } of writing.sessions(user)) staying.push(id);
    const [found, expected] = [staying.sort().join(' '), appended.sort().join(' ')];
    if (found !== expected) return `${found} stay, but should: ${expected}`;
    if (deleted !== sessions.length - staying.length) return `${deleted} were deleted`;
    if (staying.length > 0) return undefined;
  }
  return 'no append was in time';
}
