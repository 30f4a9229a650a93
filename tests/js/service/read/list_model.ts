// Lists by title and labels against a model. It needs no host, so pages of browsers run it too.

import type { Session, SessionService } from '../../../../js/index.js';

const SHOP = { appName: 'shop' };
const WORDS = ['tea', 'teapot', 'Te', 'green', 'GREENHOUSE', 'größe'];

/** What the model needs of a service. Its option `autoTitle` may be set. */
export type ListedService = Pick<
  SessionService,
  'createSession' | 'deleteSession' | 'appendEvent' | 'updateSession' | 'getSession' | 'sessions'
>;

/** A list that has other sessions than the model. */
export interface Difference {
  readonly request: object;
  readonly listed: readonly string[];
  readonly expected: readonly string[];
}

/** Returns whole numbers below a limit, the same for one seed. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed + 1;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/**
 * Creates, renames and deletes sessions, appends to them, and compares lists by title and labels with a model.
 *
 * @param services services over one storage
 * @param passTime called before each write
 * @returns the first list that differs
 */
export async function findDifference(
  services: readonly ListedService[],
  seed: number,
  passTime: (milliseconds: number) => void,
): Promise<Difference | undefined> {
  const random = randomNumbers(seed);
  const model = new Map<string, Session>();
  const words = () => Array.from({ length: 1 + random(3) }, () => WORDS[random(6)]).join(' ');
  const labels = () => ({ a: `${random(3)}`, ...(random(2) && { b: `${random(12)}` }) });
  const service = () => services[random(services.length)]!;
  const act = async () => {
    passTime(random(3));
    const [userId, sessionId] = [random(3) ? 'ada' : 'bob', `s${random(20)}`];
    const key = { ...SHOP, userId, sessionId };
    const name = userId + sessionId;
    const session = model.get(name);
    const change = {
      ...(random(3) && { title: words() }),
      ...(random(2) && { labels: labels() }),
    };
    const step = random(4);
    if (session === undefined) {
      model.set(name, await service().createSession({ ...key, ...change }));
    } else if (step === 0) {
      await service().deleteSession(key);
      model.delete(name);
    } else {
      if (step === 1) {
        const content = { role: 'user', parts: [{ text: words() }] };
        const event = { invocationId: 'i', author: 'user', content };
        const writer = service();
        const handle = (await writer.getSession(key))!;
        await writer.appendEvent({ session: handle, event });
      } else {
        await service().updateSession(key, random(5) ? change : { title: null, labels: null });
      }
      model.set(name, (await service().getSession(key))!);
    }
  };
  for (let round = 0; round < 8; round += 1) {
    for (let acts = random(12); acts > 0; acts -= 1) await act();
    const wanted = words().toLowerCase();
    const filter = random(3) ? { title: wanted } : { labels: labels() };
    const both = random(4) ? filter : { title: wanted, labels: { a: '1' } };
    const request = {
      ...SHOP,
      ...both,
      ...(random(2) && { userId: 'ada' }),
      limit: 1 + random(4),
      order: random(2) ? 'asc' : 'desc',
      orderBy: random(2) ? 'createTime' : 'lastUpdateTime',
    } as const;
    const fits = (session: Session) => {
      const own = (session.title ?? '').toLowerCase().split(' ');
      return (
        (request.userId ?? session.userId) === session.userId &&
        (!('title' in both) ||
          both.title.split(' ').every((word) => own.some((other) => other.startsWith(word)))) &&
        Object.entries('labels' in both ? both.labels : {}).every(
          ([key, value]) => session.labels?.[key] === value,
        )
      );
    };
    const expected = [...model.values()].filter(fits).map(({ userId, id }) => userId + id);
    const listed = [];
    for await (const { userId, id } of service().sessions(request)) listed.push(userId + id);
    expected.sort();
    listed.sort();
    if (listed.join() !== expected.join()) return { request, listed, expected };
  }
  return undefined;
}
