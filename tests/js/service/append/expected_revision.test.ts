import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { begin, failure, overStorages, says, stored, texts, USER } from '../fixture.js';

overStorages('An append with expectedRevision', (open) => {
  it('reports both revisions when it is refused, and changes nothing', async () => {
    const { service, session } = await begin(open, { a: 0 });
    const expectedRevision = service.revisionOf(session);
    await service.appendEvent({ session, event: says('one', { a: 1 }), expectedRevision });
    const before = structuredClone([session, await stored(service)]);
    const event = says('two', { a: 2, 'temp:t': 1 });
    const append = service.appendEvent({ session, event, expectedRevision });
    const error = await failure(append, 'stale_session');
    assert.equal(error.expectedRevision, expectedRevision);
    assert.equal(error.actualRevision, service.revisionOf(session));
    assert.deepEqual([session, await stored(service)], before);
  });

  it('gives an older handle the events that it had missed', async () => {
    const { service, session } = await begin(open);
    const late = await stored(service);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    const expectedRevision = service.revisionOf(session);
    await service.appendEvent({ session: late, event: says('two'), expectedRevision });
    assert.deepEqual(texts(late), ['one', 'two']);
    assert.deepEqual(late.state, { a: 1 });
  });

  it('is stored alone, whatever waits before it through the same handle', async () => {
    const { service, session } = await begin(open);
    const expectedRevision = service.revisionOf(session);
    const outcomes = await Promise.allSettled([
      service.appendEvent({ session, event: says('one') }),
      service.appendEvent({ session, event: says('two'), expectedRevision }),
      service.appendEvent({ session, event: says('three') }),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(texts(session), ['one', 'three']);
    assert.deepEqual(texts(await stored(service)), ['one', 'three']);
  });

  it('succeeds again with an event that is stored already', async () => {
    const { service, session } = await begin(open);
    const expectedRevision = service.revisionOf(session);
    const event = says('one', { a: 1 });
    await service.appendEvent({ session, event, expectedRevision });
    await service.appendEvent({ session, event, expectedRevision });
    assert.deepEqual(texts(await stored(service)), ['one']);
  });
});

describe('expectedRevision', () => {
  it('must be a whole number from 0', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(USER);
    for (const expectedRevision of [-1, 1.5, NaN, Infinity, '1', {}]) {
      const request = { session, event: says('one'), expectedRevision: expectedRevision as number };
      const error = await failure(service.appendEvent(request), 'invalid_argument');
      assert.equal(error.key, 'expectedRevision');
      await failure(
        service.appendEvents({ ...request, events: [request.event] }),
        'invalid_argument',
      );
    }
    assert.deepEqual(session.events, []);
  });
});
