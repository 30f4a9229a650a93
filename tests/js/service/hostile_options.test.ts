import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService } from '../../../js/index.js';
import { failure, KEY, says, stored, USER } from './fixture.js';

for (const [what, clock] of [
  ['a bigint', () => 1n],
  ['a string', () => '2020'],
  ['nothing', () => undefined],
  ['a symbol', () => Symbol('now')],
] as const) {
  it(`A clock that returns ${what} loses no data`, async () => {
    const sound = new InMemorySessionService();
    await sound.createSession(KEY);
    const service = new InMemorySessionService({ clock: clock as never });
    await failure(service.createSession(KEY), 'invalid_argument');
    assert.equal((await stored(sound)).id, 'session');
    assert.equal(await service.getSession(KEY), undefined);
  });
}

for (const [what, newId] of [
  ['a number', () => 5],
  ['nothing', () => undefined],
  ['an empty text', () => ''],
  ['a symbol', () => Symbol('id')],
  ['a lone surrogate', () => '\ud800'],
] as const) {
  it(`A newId that returns ${what} is reported, and loses no data`, async () => {
    const sound = new InMemorySessionService();
    await sound.createSession(KEY);
    const service = new InMemorySessionService({ newId: newId as never });
    await failure(service.createSession(USER), 'invalid_argument');
    const session = await service.createSession(KEY);
    const event = { ...says('x'), id: '' };
    await failure(service.appendEvent({ session, event }), 'invalid_argument');
    assert.equal((await service.listSessions(USER)).totalItems, 1);
    assert.equal((await stored(sound)).id, 'session');
  });
}

for (const option of ['clock', 'newId'] as const) {
  it(`A ${option} that throws anything causes an error with a code`, async () => {
    const service = new InMemorySessionService({
      [option]: () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is the point
        throw 'no time';
      },
    });
    await failure(service.createSession(USER), 'invalid_argument');
    assert.equal((await service.listSessions(USER)).totalItems, 0);
  });
}
