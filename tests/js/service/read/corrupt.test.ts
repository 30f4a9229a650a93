import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { APP, failure, KEY, openOver, says, stored, texts, USER } from '../fixture.js';
import { MapStorage } from '../map_storage.js';

/** A session with three events, the second of which is named `e2`. */
async function threeEvents() {
  const storage = new MapStorage();
  const service = await openOver(storage);
  const session = await service.createSession({ ...KEY, state: { a: 1, 'user:u': 1, 'app:a': 1 } });
  const events = ['one', 'two', 'three'].map((text, n) => ({ ...says(text), id: `e${n + 1}` }));
  await service.appendEvents({ session, events });
  return { storage, service, session };
}

/** More levels than any recursion survives. */
const DEEP = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

const DAMAGED = ['', '{', '{"id":"e2"', 'null', '5', '"text"', '[]', '[{}]', '{},{}', '{"id":"e2"}]', '\u0000', '{}{}']; // prettier-ignore

describe('An event that cannot be read', () => {
  for (const text of DAMAGED) {
    it(`is named in the error: ${JSON.stringify(text)}`, async () => {
      const { storage, service } = await threeEvents();
      storage.damage('e2', text);
      const error = await failure(service.getSession(KEY), 'corrupt_record');
      assert.match(error.record ?? '', /"e2".*"session"/);
      assert.match(error.message, /"e2"/);
      assert.match(error.message, /skipCorrupt/);
    });

    it(`is omitted with skipCorrupt: ${JSON.stringify(text)}`, async () => {
      const { storage, service } = await threeEvents();
      storage.damage('e2', text);
      const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
      assert.deepEqual(texts(read!), ['one', 'three']);
    });
  }

  it('is named if it has too many levels, and does not end the program', async () => {
    const { storage, service } = await threeEvents();
    storage.damage('e2', `{"id":"e2","x":${DEEP}}`);
    await failure(service.getSession(KEY), 'corrupt_record');
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.deepEqual(texts(read!), ['one', 'three']);
  });

  it('is named among thousands', async () => {
    const { storage, service, session } = await threeEvents();
    const events = Array.from({ length: 3000 }, (_, n) => ({ ...says('x'.repeat(50)), id: `n${n}` })); // prettier-ignore
    await service.appendEvents({ session, events });
    storage.damage('n1500', '{"');
    const error = await failure(service.getSession(KEY), 'corrupt_record');
    assert.match(error.record ?? '', /"n1500"/);
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.equal(read?.events.length, 3002);
  });

  it('does not hide damage that joined texts would repair', async () => {
    const { storage, service } = await threeEvents();
    storage.damage('e1', '{"id":"e1"');
    storage.damage('e2', '"x":1}');
    await failure(service.getSession(KEY), 'corrupt_record');
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.deepEqual(texts(read!), ['three']);
  });

  it('does not affect windows without it', async () => {
    const { storage, service } = await threeEvents();
    storage.damage('e2', '{');
    const read = await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    assert.deepEqual(texts(read!), ['three']);
  });

  it('does not affect appends, lists and deletions', async () => {
    const { storage, service, session } = await threeEvents();
    storage.damage('e2', '{');
    await service.appendEvent({ session, event: says('four') });
    assert.equal((await service.listSessions(APP)).totalItems, 1);
    const read = await service.getSession({ ...KEY, config: { skipCorrupt: true } });
    assert.deepEqual(texts(read!), ['one', 'three', 'four']);
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('can be repaired by an append with its id', async () => {
    const { storage, service, session } = await threeEvents();
    storage.damage('e2', '{');
    await service.appendEvent({ session, event: { ...says('mended'), id: 'e2' } });
    assert.deepEqual(texts(await stored(service)), ['one', 'mended', 'three']);
  });

  for (const text of ['{', 'null', '[]']) {
    it(`does not fail an append that would deliver it to a stale handle: ${text}`, async () => {
      const { storage, service, session } = await threeEvents();
      const late = await stored(service);
      await service.appendEvent({ session, event: { ...says('four', { b: 1 }), id: 'e4' } });
      await service.appendEvent({ session, event: says('five', { c: 1 }) });
      storage.damage('e4', text);
      await service.appendEvent({ session: late, event: says('six') });
      assert.deepEqual(texts(late), ['one', 'two', 'three', 'five', 'six']);
      assert.equal(late.state.c, 1);
      await failure(service.getSession(KEY), 'corrupt_record');
    });
  }
});

describe('A state that cannot be read', () => {
  for (const text of ['', '{', 'null', '[]', '5', '{"a":}', '{"a":1}}']) {
    it(`of a session is named, and other sessions stay readable: ${JSON.stringify(text)}`, async () => {
      const { storage, service } = await threeEvents();
      await service.createSession({ ...USER, sessionId: 'other' });
      const session = storage.sessions.get(JSON.stringify(['app', 'user', 'session']))!;
      session.row = { ...session.row, state: text };
      const error = await failure(service.getSession(KEY), 'corrupt_record');
      assert.match(error.record ?? '', /session/);
      assert.match(error.message, /session/);
      assert.equal((await stored(service, { ...USER, sessionId: 'other' })).id, 'other');
    });

    it(`of a user or an app is named: ${JSON.stringify(text)}`, async () => {
      const { storage, service } = await threeEvents();
      for (const [what, name] of [
        ['user', ['app', 'user']],
        ['app', ['app']],
      ] as const) {
        const key = JSON.stringify(name);
        const row = storage.scopes.get(key)!;
        storage.scopes.set(key, { ...row, state: text });
        const error = await failure(service.getSession(KEY), 'corrupt_record');
        assert.match(error.record ?? '', new RegExp(what));
        storage.scopes.set(key, row);
      }
      assert.deepEqual((await stored(service)).state, { a: 1, 'user:u': 1, 'app:a': 1 });
    });
  }

  it('is reported with its session in a list', async () => {
    const { storage, service } = await threeEvents();
    await service.createSession({ ...USER, sessionId: 'other' });
    const session = storage.sessions.get(JSON.stringify(['app', 'user', 'session']))!;
    session.row = { ...session.row, state: '{' };
    const error = await failure(service.listSessions(APP), 'corrupt_record');
    assert.match(error.record ?? '', /"session"/);
  });

  for (const text of ['', '{']) {
    it(`is not overwritten by an append that would change it: ${JSON.stringify(text)}`, async () => {
      const { storage, service, session } = await threeEvents();
      const stored = storage.sessions.get(JSON.stringify(['app', 'user', 'session']))!;
      stored.row = { ...stored.row, state: text };
      const append = service.appendEvent({ session, event: says('four', { b: 1 }) });
      await failure(append, 'corrupt_record');
      assert.equal(stored.events.size, 3);
      assert.equal(stored.row.state, text);
      await service.appendEvent({ session, event: says('five') });
      assert.equal(stored.events.size, 4);
    });
  }
});
