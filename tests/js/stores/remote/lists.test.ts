// Lists over HTTP have the same pages as the lists of the service that is served.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { InMemorySessionService } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { findDifference } from '../../service/read/list_model.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from './fixture.js';

const TITLES = ['green tea', 'tea', 'black coffee', undefined];

const title = fc.constantFrom(...TITLES);
const labels = fc.option(
  fc.record({ kind: fc.constantFrom('hot', 'cold'), a: fc.constantFrom('1', '2') }),
  { nil: undefined },
);
const session = fc.record({
  userId: fc.constantFrom('ada', 'bob'),
  title,
  labels,
  /** Milliseconds between creations; several sessions may have one time. */
  pause: fc.nat(1),
});

const filter = fc.oneof(
  fc.constant({}),
  fc.constantFrom(
    { title: 'tea' },
    { title: 'TEA green' },
    { title: null, labels: { a: '1' } },
    { labels: { kind: 'hot' } },
    { title: 'tea', labels: { kind: 'cold', a: '2' } },
  ),
);
const list = fc.record({
  filter,
  userId: fc.constantFrom('ada', undefined),
  limit: fc.integer({ min: 1, max: 4 }),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  orderBy: fc.constantFrom('createTime' as const, 'lastUpdateTime' as const),
  stateKeys: fc.constantFrom(undefined, ['n']),
});

function serve(clock: () => number) {
  const service = new InMemorySessionService({ clock });
  const fetch = fetchFrom(handlerOn(service));
  return { service, remote: new RemoteSessionService({ url: URL_OF_SERVER, clock, fetch }) };
}

it('A page of a remote list, and the page after it, are those of the service that is served', async () => {
  const sessions = fc.array(session, { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sessions, fc.array(list, { minLength: 1 }), async (sessions, lists) => {
      let now = 1000;
      const { service, remote } = serve(() => now);
      for (const [n, { pause, ...given }] of sessions.entries()) {
        now += pause;
        await service.createSession({
          appName: 'shop',
          sessionId: `s${n % 7}${n}`,
          ...given,
          state: { n },
        });
      }
      for (const [n, { pause, userId }] of sessions.entries()) {
        now += pause;
        const key = { appName: 'shop', userId, sessionId: `s${n % 7}${n}` };
        if (n % 3 === 0) await service.updateState({ ...key, stateDelta: { later: n } });
      }
      for (const { filter, ...request } of lists) {
        let cursor: string | undefined;
        do {
          const page = { appName: 'shop', ...request, ...filter, cursor };
          const expected = await service.listSessions(page as never);
          const listed = await remote.listSessions(page as never);
          assert.deepEqual(listed, expected);
          cursor = listed.nextCursor;
        } while (cursor !== undefined);
      }
    }),
  );
});

for (const order of ['asc', 'desc'] as const) {
  it(`A whole list, ${order}, has each session once if some are updated while it is read`, async () => {
    let now = 1000;
    const service = new InMemorySessionService({ clock: () => (now += 1) });
    const key = (n: number) => ({ appName: 'shop', userId: 'ada', sessionId: `s${n}` });
    for (let n = 0; n < 1500; n += 1) await service.createSession(key(n));
    const send = fetchFrom(handlerOn(service));
    const updates = [3, 1400].values();
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await send(input, init);
      const update = (input as string).includes('/sessions?') ? updates.next().value : undefined;
      if (update !== undefined) await service.updateState({ ...key(update), stateDelta: { n: 1 } });
      return response;
    };
    const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
    const read = await remote.listSessions({ appName: 'shop', order });
    assert.equal(read.sessions.length, 1500);
    const ids = new Set(read.sessions.map(({ id }) => id));
    assert.equal(ids.size, 1500);
    const expected = await service.listSessions({ appName: 'shop', order });
    assert.deepEqual(await remote.listSessions({ appName: 'shop', order }), expected);
  });
}

it('A list by title and labels has what a model has, whatever was created, renamed and deleted before', async () => {
  for (let seed = 0; seed < 30; seed += 1) {
    let now = 1_700_000_000_000;
    const { service, remote } = serve(() => now);
    const difference = await findDifference([service, remote], seed, (ms) => (now += ms));
    assert.equal(difference, undefined, `seed ${seed}`);
  }
});
