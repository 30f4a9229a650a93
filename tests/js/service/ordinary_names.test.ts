// Names that every object inherits, `__proto__` too, are ordinary keys of data. The conformance suite has them as ids.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import { exportSession, importSession } from '../../../js/service/files/index.js';
import { createEvent, InMemorySessionService, injectSessionState } from '../../../js/index.js';
import { imported, KEY, type Open, overStorages, stored } from './fixture.js';

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

/** An object with all of the names as own members. */
function named(value: unknown): Record<string, unknown> {
  return Object.fromEntries(NAMES.map((name) => [name, value]));
}

function prefixed(prefix: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(NAMES.map((name) => [prefix + name, value]));
}

function namesAreOrdinary(open: Open): void {
  it('of states, also nested', async () => {
    const service = await open();
    const value = { nested: named({ a: 1 }) };
    const shared = { ...prefixed('user:', 1), ...prefixed('app:', 2) };
    await service.createSession({ ...KEY, state: { ...named(value), ...shared } });
    const { state } = await stored(service);
    assert.deepEqual(state, { ...named(value), ...shared });
    assert.deepEqual(await service.getUserState(KEY), named(1));
    assert.deepEqual(await service.getAppState(KEY), named(2));
    assert.deepEqual((await service.listSessions(KEY)).sessions[0]?.state, state);
  });

  it('of deltas, which set and remove them', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    const stateDelta = { ...named(1), ...prefixed('temp:', () => 1) };
    const event = createEvent({ id: 'e1', author: 'user', actions: { stateDelta } });
    await service.appendEvent({ session, event });
    const read = await stored(service);
    assert.deepEqual([read.state, read.events[0]?.actions.stateDelta], [named(1), named(1)]);
    await service.updateState({ ...KEY, stateDelta: named(undefined) });
    assert.deepEqual((await stored(service)).state, {});
  });

  it('of events', async () => {
    const service = await open();
    const session = await service.createSession(KEY);
    const functionCall = { name: 'toString', args: named([named(1)]) };
    const event = {
      ...createEvent({ id: 'toString', author: 'constructor' }),
      content: { role: 'model', parts: [{ functionCall }] },
      customMetadata: named({ a: null }),
      ...named('x'),
    };
    const given = structuredClone(event);
    await service.appendEvent({ session, event });
    const [read] = (await stored(service)).events;
    assert.deepEqual(read, given);
    const { events } = await service.listEvents(KEY);
    assert.deepEqual(events, [given]);
  });

  it('of labels, usage and files', async () => {
    const service = await open();
    const usageMetadata = { promptTokenCount: 1 };
    const events = NAMES.map((modelVersion, at) => {
      return { ...createEvent({ id: `e${at}`, author: 'model' }), modelVersion, usageMetadata };
    });
    const labels = Object.fromEntries(['constructor', '__proto__'].map((name) => [name, 'a']));
    await service.createSession(imported({ ...KEY, state: named(1), events, labels }));
    const { usage } = await service.sessionInfo(KEY);
    assert.deepEqual(usage, named(usageMetadata));
    const file = JSON.stringify(await exportSession(service, KEY));
    const other = new InMemorySessionService();
    await importSession(other, file);
    assert.deepEqual(await exportSession(other, KEY), JSON.parse(file));
    assert.deepEqual((await stored(other)).labels, labels);
  });
}

overStorages('Names of inherited members are ordinary keys', namesAreOrdinary);

describe('Names of inherited members are ordinary keys, in SQLite', () => {
  namesAreOrdinary((options) =>
    Promise.resolve(new DatabaseSessionService('sqlite::memory:', options)),
  );
});

it('A template finds only own keys', async () => {
  const state = { ['__proto__']: 'a', toString: 'b' };
  const text = await injectSessionState('{__proto__} {toString} {constructor?}.', { state });
  assert.equal(text, 'a b .');
});
