import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from './child.js';

/** A session with an event in memory and in a storage; then the next append dies within the wasm. */
const DEATH = `
  const adk = await load('index.js');
  const { MapStorage } = await load('../tests/js/service/map_storage.js');
  const { WasmStorage } = await import(${JSON.stringify(import.meta.resolve('#glue'))});
  const service = new adk.InMemorySessionService();
  const other = new adk.InMemorySessionService();
  const foreign = await adk.openSessionService({ storage: new MapStorage() });
  const session = await service.createSession(key);
  await other.createSession(key);
  const kept = await foreign.createSession(key);
  await service.appendEvent({ session, event: adk.createEvent({ id: 'e1' }) });
  const before = JSON.stringify(session);
  const { append } = WasmStorage.prototype;
  WasmStorage.prototype.append = () => { throw new WebAssembly.RuntimeError('unreachable'); };
  const event = adk.createEvent({ id: 'e2', actions: { stateDelta: { a: 1 } } });
  const died = await codeOf(() => service.appendEvent({ session, event }));
  WasmStorage.prototype.append = append;
`;

describe('When the wasm instance dies', () => {
  it('the call that caused it reports the cause, and changes nothing', async () => {
    const [died, isSame, delta] = await inChild<[Outcome, boolean, unknown]>(`
      ${DEATH}
      return [died, JSON.stringify(session) === before, event.actions.stateDelta];
    `);
    assert.equal(died.code, 'internal');
    assert.match(died.message ?? '', /report|bug/);
    assert.equal(isSame, true);
    assert.deepEqual(delta, { a: 1 });
  });

  it('a service in memory rejects every later call, and never comes back empty', async () => {
    const outcomes = await inChild<Record<string, Outcome>>(`
      ${DEATH}
      return {
        get: await codeOf(() => service.getSession(key)),
        list: await codeOf(() => service.listSessions(key)),
        create: await codeOf(() => service.createSession({ ...key, sessionId: 'new' })),
        getOrCreate: await codeOf(() => service.getOrCreateSession(key)),
        append: await codeOf(() => service.appendEvent({ session, event })),
        remove: await codeOf(() => service.deleteSession(key)),
        update: await codeOf(() => service.updateState({ ...key, stateDelta: { a: 1 } })),
        userState: await codeOf(() => service.getUserState(key)),
        sync: await codeOf(() => service.getSessionSync(key)),
        other: await codeOf(() => other.getSession(key)),
        fresh: await codeOf(() => new adk.InMemorySessionService().createSession(key)),
      };
    `);
    for (const [call, { code }] of Object.entries(outcomes)) assert.equal(code, 'internal', call);
  });

  it('a service in memory can still be closed', async () => {
    const [closed, after] = await inChild<Outcome[]>(`
      ${DEATH}
      return [await codeOf(() => service.close()), await codeOf(() => service.getSession(key))];
    `);
    assert.deepEqual(closed, { value: 'undefined' });
    assert.equal(after?.code, 'closed');
  });

  it('templates keep working', async () => {
    const text = await inChild<string>(`
      ${DEATH}
      return adk.injectSessionState('Hello {a}', { state: { a: 1 } });
    `);
    assert.equal(text, 'Hello 1');
  });

  it('services over other storages keep working, new ones too', async () => {
    const [count, fresh] = await inChild<[number, Outcome]>(`
      ${DEATH}
      await foreign.appendEvent({ session: kept, event: adk.createEvent({ id: 'e1' }) });
      const next = await adk.openSessionService({ storage: new MapStorage() });
      return [(await foreign.getSession(key)).events.length, await codeOf(() => next.createSession(key))];
    `);
    assert.equal(count, 1);
    assert.deepEqual(fresh, { value: 'object' });
  });

  it('an invalid argument does not cause it', async () => {
    const outcome = await inChild<Outcome>(`
      const adk = await load('index.js');
      const service = new adk.InMemorySessionService();
      await service.createSession(key);
      const hostile = new adk.InMemorySessionService({ clock: () => 1n });
      await codeOf(() => hostile.createSession(key));
      return codeOf(() => service.getSession(key));
    `);
    assert.deepEqual(outcome, { value: 'object' });
  });
});
