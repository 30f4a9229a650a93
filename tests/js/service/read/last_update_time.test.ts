import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService } from '../../../../js/index.js';
import { APP, failure, imported, KEY, overStorages, says, show, stored, USER } from '../fixture.js';

overStorages('A session that is created with a lastUpdateTime', (open) => {
  it('has the given lastUpdateTime, in lists too', async () => {
    const service = await open();
    await service.createSession({ ...USER, sessionId: 'new' });
    const session = await service.createSession(
      imported({ ...KEY, lastUpdateTime: 1741218414968.405 }),
    );
    assert.equal(session.lastUpdateTime, 1741218414968.405);
    assert.equal((await stored(service)).lastUpdateTime, 1741218414968.405);
    const { sessions } = await service.listSessions(APP);
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['session', 'new'],
    );
  });

  it('changes its lastUpdateTime only with later events', async () => {
    const service = await open({ clock: () => 3000 });
    const session = await service.createSession(imported({ ...KEY, lastUpdateTime: 1000 }));
    for (const [timestamp, expected] of [
      [500, 1000],
      [2000, 2000],
      [9000, 9000],
    ] as const) {
      await service.appendEvent({ session, event: { ...says('hi'), timestamp } });
      assert.equal((await stored(service)).lastUpdateTime, expected);
    }
  });
});

for (const lastUpdateTime of [-1, NaN, Infinity, 253402300800000, '2025' as unknown as number]) {
  it(`createSession refuses a lastUpdateTime of ${show(lastUpdateTime)}, and writes nothing`, async () => {
    const service = new InMemorySessionService();
    const error = await failure(
      service.createSession({ ...KEY, lastUpdateTime }),
      'invalid_argument',
    );
    assert.equal(error.key, 'lastUpdateTime');
    assert.equal((await service.listSessions(APP)).totalItems, 0);
  });
}
