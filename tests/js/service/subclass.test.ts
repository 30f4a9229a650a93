// A user's class over a service of the package, with members that the package might use itself.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DatabaseSessionService } from '../../../js/service/database/index.js';
import {
  Invocation,
  InMemorySessionService,
  type Session,
  type SessionService,
} from '../../../js/index.js';
import { KEY, says, stored } from './fixture.js';

const NAMES = ['get', 'create', 'list', 'delete', 'remove', 'update', 'open', 'take', 'call', 'openStorage', 'core', 'calls', 'feed', 'handles', 'reader', 'appender', 'parts', 'store']; // prettier-ignore

/** Gives a class methods of many names, which fail if the package calls them. */
function occupy(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (): never => assert.fail(`the package called ${name}`);
    Object.defineProperty(prototype, name, { value });
  }
}

class Memory extends InMemorySessionService {}
occupy(Memory.prototype, NAMES);

class Sql extends DatabaseSessionService {}
occupy(
  Sql.prototype,
  NAMES.filter((name) => name !== 'open'),
);

describe('A subclass with members of its own', () => {
  const services: Record<string, () => SessionService> = {
    memory: () => new Memory(),
    SQLite: () => new Sql('sqlite::memory:'),
  };
  for (const [storage, make] of Object.entries(services)) {
    it(`breaks no call, over ${storage}`, async () => {
      const service = make();
      const session = await service.createSession({ ...KEY, state: { 'user:a': 1 } });
      await service.getOrCreateSession(KEY);
      await service.appendEvents({ session, events: [says('1')] });
      await service.updateState({ ...KEY, stateDelta: { b: 2 } });
      assert.deepEqual((await stored(service)).state, { 'user:a': 1, b: 2 });
      assert.equal((await service.listSessions(KEY)).totalItems, 1);
      assert.deepEqual(await service.getUserState(KEY), { a: 1 });
      await service.deleteSession(KEY);
      await service.deleteUser(KEY);
      await service.close();
    });
  }

  it('breaks no synchronous call', () => {
    const service = new Memory();
    service.createSessionSync(KEY);
    assert.equal(service.getSessionSync(KEY)?.id, KEY.sessionId);
    assert.equal(service.listSessionsSync(KEY).totalItems, 1);
    service.deleteSessionSync(KEY);
  });

  it('breaks no invocation', async () => {
    class Run extends Invocation {}
    occupy(Run.prototype, ['assertRunning', 'running', 'complete', 'dropTemp']);
    const service = new InMemorySessionService();
    const session: Session = await service.createSession(KEY);
    const invocation = new Run({ service, session });
    const context = invocation.context({ agentName: 'guide' });
    context.state.set('topic', 'tea');
    await invocation.append({}, { context });
    assert.equal(session.state.topic, 'tea');
    invocation.end();
  });
});
