import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import type { ExpectedEvents } from '../../../../js/values/model/session.js';
import { begin, failure, KEY, overStorages, says, stored, texts, USER } from '../fixture.js';

overStorages('An append with expectedEvents', (open) => {
  it('names the stored revisions when it is refused, and changes nothing', async () => {
    const { service, session } = await begin(open);
    const since = service.revisionOf(session)!;
    const events = ['__proto__', 'e2'].map((id) => ({ ...says('one'), id }));
    await service.appendEvents({ session, events });
    const { events: changed } = await service.listChanges({ ...KEY, since });
    const [first, second] = changed!.map(({ revision }) => revision);
    const before = structuredClone([session, await stored(service)]);
    const expected = [
      ['__proto__', null],
      ['e2', second],
      ['e3', first],
    ];
    const append = service.appendEvents({
      session,
      events: ['__proto__', 'e2', 'e3'].map((id) => ({ ...says('two', { a: 1 }), id })),
      expectedEvents: Object.fromEntries(expected) as ExpectedEvents,
    });
    const error = await failure(append, 'stale_session');
    assert.deepEqual(Object.entries(error.actualEvents!), [
      ['__proto__', first],
      ['e3', null],
    ]);
    assert.match(
      error.message,
      /event "__proto__" of session "session" is stored at revision \d+,/,
    );
    assert.deepEqual([session, await stored(service)], before);
  });

  it('replaces the version that it names', async () => {
    const { service, session } = await begin(open);
    const event = says('one', { a: 1 });
    await service.appendEvent({ session, event });
    const { revision } = await service.listChanges({ ...KEY, since: 0 });
    const other = { ...says('two', { a: 2 }), id: event.id };
    const request = { session, event: other, expectedEvents: { [event.id]: revision } };
    await service.appendEvent(request);
    await service.appendEvent(request);
    assert.deepEqual(texts(await stored(service)), ['two']);
    assert.deepEqual(session.state, { a: 2 });
  });

  it('is stored alone, whatever waits before it through the same handle', async () => {
    const { service, session } = await begin(open);
    const [one, two, three] = [says('one'), says('two'), says('three')];
    const outcomes = await Promise.allSettled([
      service.appendEvent({ session, event: one }),
      service.appendEvent({ session, event: two, expectedEvents: { [two.id]: 7 } }),
      service.appendEvent({ session, event: three, expectedEvents: { [three.id]: null } }),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(texts(await stored(service)), ['one', 'three']);
  });

  it('takes the option at the call', async () => {
    const { service, session } = await begin(open);
    const event = says('one');
    const expectedEvents: Record<string, number | null> = { [event.id]: null };
    const append = service.appendEvent({ session, event, expectedEvents });
    expectedEvents[event.id] = 7;
    await append;
  });
});

describe('expectedEvents', () => {
  it('must hold revisions or null, of events of the append', async () => {
    const service = new InMemorySessionService();
    const session = await service.createSession(USER);
    const event = says('one');
    const { id } = event;
    const wrong = [
      7,
      'e1',
      [],
      { [id]: 0 },
      { [id]: -1 },
      { [id]: 1.5 },
      { [id]: '1' },
      { other: null },
    ];
    for (const value of wrong) {
      const expectedEvents = value as unknown as ExpectedEvents;
      const error = await failure(
        service.appendEvent({ session, event, expectedEvents }),
        'invalid_argument',
      );
      assert.match(error.key ?? '', /^expectedEvents/);
    }
    assert.deepEqual(session.events, []);
  });
});
