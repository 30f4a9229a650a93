import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { inChild, type Outcome } from './child.js';

const GLUE = JSON.stringify(import.meta.resolve('#glue'));

/** Runs code with a service in memory and one session, in a new process. */
const SERVICE = `
  const adk = await load('index.js');
  const service = new adk.InMemorySessionService();
  const session = await service.createSession({ ...key, state: { a: 1 } });
`;

/** Limits the wasm instance to a number of free pages of 64 KB. Untouched pages need no memory. */
const leavePages = (count: number): string => `
  const { initSync } = await import(${GLUE});
  const { memory } = initSync(undefined);
  memory.grow(2 ** 16 - memory.buffer.byteLength / 2 ** 16 - ${count});
`;

describe('Data that does not fit into memory', () => {
  it('is refused with quota_exceeded, and the service keeps working', async () => {
    const { state, ...outcomes } = await inChild<Record<string, Outcome> & { state: unknown }>(`
      ${SERVICE}
      const large = 'x'.repeat(2.7e8);
      const largest = 'x'.repeat(2 ** 29 - 100);
      const event = (delta) => adk.createEvent({ actions: { stateDelta: delta } });
      const append = (event) => codeOf(() => service.appendEvent({ session, event }));
      return {
        delta: await append(event({ large })),
        longestDelta: await append(event({ largest })),
        update: await codeOf(() => service.updateState({ ...key, stateDelta: { large } })),
        template: await codeOf(() => adk.injectSessionState('{a}' + large, { state: { a: 1 } })),
        state: (await service.getSession(key)).state,
      };
    `);
    for (const [call, { code }] of Object.entries(outcomes)) {
      assert.equal(code, 'quota_exceeded', call);
    }
    assert.deepEqual(state, { a: 1 });
  });

  it("is refused if an append's states would be too large to read", async () => {
    const [outcomes, sizes] = await inChild<[Outcome[], number[]]>(`
      ${SERVICE}
      const outcomes = [];
      for (const name of ['a', 'b', 'c', 'user:a', 'user:b', 'user:c', 'app:a', 'app:b', 'app:c']) {
        const event = adk.createEvent({ actions: { stateDelta: { [name]: 'x'.repeat(5e7) } } });
        outcomes.push(await codeOf(() => service.appendEvent({ session, event })));
      }
      const { state } = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
      return [outcomes, Object.values(state).map((value) => value.length)];
    `);
    const codes = outcomes.map(({ code }) => code ?? 'stored');
    const scope = ['stored', 'stored', 'quota_exceeded'];
    assert.deepEqual(codes, [...scope, ...scope, ...scope]);
    assert.deepEqual(sizes, Array(6).fill(5e7));
  });

  it('is refused if an append over a storage would make a state too large to read', async () => {
    const [outcomes, sizes, writes] = await inChild<[Outcome[], number[], number]>(`
      const adk = await load('index.js');
      const { MapStorage } = await load('../tests/js/service/map_storage.js');
      const service = await adk.openSessionService({ storage: new MapStorage() });
      const session = await service.createSession(key);
      const outcomes = [];
      for (const name of ['user:a', 'user:b', 'user:c', 'user:d']) {
        const events = [adk.createEvent({ actions: { stateDelta: { [name]: 'x'.repeat(5e7) } } })];
        // One event and several go different ways.
        if (name === 'user:d') events.push(adk.createEvent());
        outcomes.push(await codeOf(() => service.appendEvents({ session, events })));
      }
      const { state, events } = await service.getSession(key);
      return [outcomes, Object.values(state).map((value) => value.length), events.length];
    `);
    const codes = outcomes.map(({ code }) => code ?? 'stored');
    assert.deepEqual(codes, ['stored', 'stored', 'quota_exceeded', 'quota_exceeded']);
    assert.deepEqual(sizes, Array(2).fill(5e7));
    assert.equal(writes, 2);
  });

  it("is refused when the instance's memory is full; stored data can be read and deleted", async () => {
    const [refused, count, again] = await inChild<[Outcome, boolean, Outcome]>(`
      ${SERVICE}
      ${leavePages(800)}
      let stored = 0;
      let refused;
      for (;;) {
        const event = adk.createEvent({ content: { parts: [{ text: 'x'.repeat(1e6) }] } });
        refused = await codeOf(() => service.appendEvent({ session, event }));
        if (refused.code !== undefined) break;
        stored += 1;
      }
      const { events } = await service.getSession(key);
      const isWhole = events.length === stored && session.events.length === stored;
      await service.deleteSession(key);
      const next = await service.createSession(key);
      const event = adk.createEvent({ content: { parts: [{ text: 'x'.repeat(1e6) }] } });
      return [refused, isWhole, await codeOf(() => service.appendEvent({ session: next, event }))];
    `);
    assert.equal(refused.code, 'quota_exceeded');
    assert.equal(count, true);
    assert.deepEqual(again, { value: 'object' });
  });

  it('is refused if the placeholders of a template would not fit', async () => {
    const [codes, id] = await inChild<[string[], string]>(`
      ${SERVICE}
      ${leavePages(300)}
      const codes = [];
      for (let size = 2 ** 16; size < 2 ** 24; size *= 2) {
        const { code = 'found' } = await codeOf(() => new adk.Template('{a}'.repeat(size / 3)).placeholders);
        codes.push(code);
      }
      return [codes, (await service.getSession(key)).id];
    `);
    assert.deepEqual(new Set(codes), new Set(['found', 'quota_exceeded']));
    assert.equal(id, 'session');
  });

  it('is replaced if memory has no room to compare it', async () => {
    const stored = await inChild<number[]>(`
      ${SERVICE}
      ${leavePages(800)}
      for (let length = 1e4; length < 2e6; length *= 2) {
        const list = Array(length).fill(0);
        for (const number of [1, 2]) {
          list[0] = number;
          await service.appendEvent({ session, event: { id: 'e' + length, timestamp: 1, content: { list } } });
        }
      }
      const { events } = await service.getSession(key);
      return events.map(({ content }) => content.list[0]);
    `);
    assert.deepEqual(stored, Array(8).fill(2));
  });

  it('is refused if a text fits into memory once, and not as the copy that is stored', async () => {
    for (const [pages, letters] of [
      [1000, 5e6],
      [1100, 5e6],
      [1300, 7e6],
    ]) {
      const [refused, isWhole] = await inChild<[string, boolean]>(`
        ${SERVICE}
        ${leavePages(pages!)}
        const text = '語'.repeat(${letters});
        for (let stored = 0; ; stored += 1) {
          const event = adk.createEvent({ content: { parts: [{ text }] } });
          const { code } = await codeOf(() => service.appendEvent({ session, event }));
          if (code === undefined) continue;
          return [code, (await service.getSession(key)).events.length === stored];
        }
      `);
      assert.deepEqual([refused, isWhole], ['quota_exceeded', true], `${pages} pages`);
    }
  });

  it('is refused if it was computed', async () => {
    for (const [pages, letters] of [
      [300, 1e6],
      [400, 2e6],
      [600, 1e6],
    ]) {
      const [session, user, title] = await inChild<string[]>(`
        ${SERVICE}
        ${leavePages(pages!)}
        const text = '語'.repeat(${letters});
        const fill = async (target, prefix) => {
          for (let number = 0; ; number += 1) {
            const stateDelta = () => ({ [prefix + number]: text });
            const { code } = await codeOf(() => service.updateState({ ...target, stateDelta }));
            if (code !== undefined) return code;
          }
        };
        const codes = [await fill(key, ''), await fill({ appName: 'app', userId: 'ada' }, 'user:')];
        return [...codes, (await service.createSession({ ...key, sessionId: 'alive' })).id];
      `);
      assert.deepEqual([session, user, title], ['quota_exceeded', 'quota_exceeded', 'alive']);
    }
  });

  it('is replaced over a storage too, if memory has no room to compare it', async () => {
    const stored = await inChild<unknown>(`
      ${SERVICE}
      const { MapStorage } = await load('../tests/js/service/map_storage.js');
      const other = await adk.openSessionService({ storage: new MapStorage() });
      const through = await other.createSession(key);
      ${leavePages(200)}
      const text = '語'.repeat(3e6);
      for (const number of [1, 2]) {
        const event = { id: 'e', timestamp: 1, content: { parts: [{ text }], number } };
        await other.appendEvent({ session: through, event });
      }
      const { events } = await other.getSession(key);
      return [events.map(({ content }) => content.number), (await service.getSession(key)).id];
    `);
    assert.deepEqual(stored, [[2], 'session']);
  });

  it('is refused or stored while replaced texts fill the memory', async () => {
    for (const pages of [1500, 1525, 1550]) {
      const last = await inChild<number>(`
        ${SERVICE}
        ${leavePages(pages)}
        const text = 'x'.repeat(6e5);
        let last;
        for (let number = 0; number < 99; number += 1) {
          const event = { id: 'e' + (number % 33), timestamp: 1, content: { parts: [{ text }], number } };
          const { code } = await codeOf(() => service.appendEvent({ session, event }));
          if (code !== undefined) break;
          last = number;
          session.events.length = 0;
        }
        const { events } = await service.getSession(key);
        return events.some(({ content }) => content.number === last) && events.length;
      `);
      assert.equal(last, 33, `${pages} pages`);
    }
  });

  it('is refused when many small values have filled the memory', async () => {
    const [codes, isWhole] = await inChild<[string[], boolean]>(`
      ${SERVICE}
      ${leavePages(300)}
      const fill = async (call) => {
        for (let number = 0; ; number += 1) {
          const { code } = await codeOf(() => call(number));
          if (code !== undefined) return code;
        }
      };
      let users = 0;
      const codes = [await fill(async (number) => {
        await service.createSession({ ...key, userId: 'user ' + number });
        users += 1;
      })];
      const { totalItems } = await service.listSessions({ appName: 'app', limit: 1 });
      for (let user = 0; user < 2_000; user += 1) await service.deleteUser({ ...key, userId: 'user ' + user });
      codes.push(await fill((n) => service.updateState({ ...key, stateDelta: { ['key ' + n]: n } })));
      return [codes, totalItems === users + 1];
    `);
    assert.deepEqual(codes, ['quota_exceeded', 'quota_exceeded']);
    assert.equal(isWhole, true);
  });
});

/** Lists 5,000 sessions that share 500 KB of an app's state, and of users'. */
const LIST = `
  const large = 'x'.repeat(5e5);
  for (let number = 0; number < 5_000; number += 1) {
    await service.createSession({ appName: 'app', userId: 'u' + (number % 50), sessionId: 's' + number });
  }
  await service.updateState({ appName: 'app', stateDelta: { 'app:large': large, 'app:list': [1] } });
  await service.updateState({ appName: 'app', userId: 'u0', stateDelta: { 'user:own': large } });
  const { sessions, totalItems } = await service.listSessions({ appName: 'app' });
  sessions[0].state['app:list'].push(2);
  const isShared = sessions[1].state['app:list'].length !== 1;
  const isWhole = sessions.every(({ userId, state }) =>
    state['app:large'] === large && (userId === 'u0') === (state['user:own'] === large));
  await service.close();
  return [sessions.length, totalItems, isWhole, isShared];
`;

describe('A list of sessions that share a large state', () => {
  it('is read from memory', async () => {
    const listed = await inChild(`
      const adk = await load('index.js');
      const service = new adk.InMemorySessionService();
      ${LIST}
    `);
    assert.deepEqual(listed, [5_000, 5_000, true, false]);
  });

  it('is read from SQLite', async () => {
    const listed = await inChild(`
      const { DatabaseSessionService } = await load('service/database/index.js');
      const service = new DatabaseSessionService('sqlite:///:memory:');
      ${LIST}
    `);
    assert.deepEqual(listed, [5_000, 5_000, true, false]);
  });

  it("is refused if the copies would exceed the engine's memory", async () => {
    const [list, page] = await inChild<Outcome[]>(`
      const adk = await load('index.js');
      const service = new adk.InMemorySessionService();
      for (let number = 0; number < 1_000; number += 1) {
        await service.createSession({ appName: 'app', userId: 'u', sessionId: 's' + number });
      }
      await service.updateState({ appName: 'app', stateDelta: { 'app:many': Array(1e5).fill(1) } });
      return [
        await codeOf(() => service.listSessions({ appName: 'app' })),
        await codeOf(() => service.listSessions({ appName: 'app', limit: 10 })),
      ];
    `);
    assert.equal(list?.code, 'quota_exceeded');
    assert.match(list.message ?? '', /limit/);
    assert.deepEqual(page, { value: 'object' });
  });
});
