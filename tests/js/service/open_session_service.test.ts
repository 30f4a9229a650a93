import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, openSessionService } from '../../../js/index.js';
import type { Storage } from '../../../js/core/storage/index.js';
import { failure, KEY, openOver, says, stored, texts } from './fixture.js';
import { MapStorage } from './map_storage.js';

describe('openSessionService', () => {
  it('reports the kind of storage', async () => {
    const memory = await openSessionService({ storage: 'memory' });
    assert.ok(memory instanceof InMemorySessionService);
    assert.deepEqual(memory.storage, { kind: 'memory', durable: false });
    assert.deepEqual(new InMemorySessionService().storage, { kind: 'memory', durable: false });
    const own = await openOver(new MapStorage());
    assert.deepEqual(own.storage, { kind: 'map', durable: false });
    const nameless = Object.assign(new MapStorage(), { kind: undefined, durable: undefined });
    const custom = await openSessionService({ storage: nameless });
    assert.deepEqual(custom.storage, { kind: 'custom', durable: true });
  });

  it('names the missing verbs of a storage', async () => {
    const storage: object = Object.assign(new MapStorage(), { list: undefined, delete: 5 });
    const opening = openSessionService({ storage: storage as Storage });
    const error = await failure(opening, 'invalid_argument');
    assert.match(error.message, /list, delete/);
  });

  for (const options of [
    undefined,
    null,
    5,
    {},
    { storage: undefined },
    { storage: null },
    { storage: 'memroy' },
    { storage: 5 },
    { storage: () => 1 },
    { storage: {} },
    { storage: 'toString' },
  ]) {
    // prettier-ignore
    it(`refuses ${JSON.stringify(options)}`, async () => {
      const error = await failure(openSessionService(options as never), 'invalid_argument');
      assert.match(error.message, /storage|request|options/);
    });
  }

  it('accepts a storage with synchronous verbs', async () => {
    const storage = new MapStorage();
    const plain: Storage = {
      create: (request, decide) => storage.write(request, decide),
      append: (request, decide) => storage.write(request, decide),
      read: (request) => storage.rows(request),
      list: (request) => storage.page(request),
      delete: (request) => storage.remove(request),
    };
    const service = await openSessionService({ storage: plain });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    assert.deepEqual(await stored(service), session);
    await service.close();
  });

  it('waits for a verb that returns a thenable', async () => {
    const storage = new MapStorage();
    const append: Storage['append'] = (request, decide) => {
      const later = {
        then(succeed: () => void): void {
          setTimeout(() => {
            storage.write(request, decide);
            succeed();
          });
        },
      };
      return later as Promise<void>;
    };
    const service = await openSessionService({ storage: Object.assign(storage, { append }) });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: says('one', { a: 1 }) });
    assert.deepEqual(await stored(service), session);
    assert.deepEqual(session.state, { a: 1 });
  });

  it('lets two services over one storage share its data', async () => {
    const storage = new MapStorage();
    const [one, other] = [await openOver(storage), await openOver(storage)];
    const session = await one.createSession(KEY);
    const late = await stored(other);
    await one.appendEvent({ session, event: says('one', { a: 1 }) });
    await other.appendEvent({ session: late, event: says('two') });
    assert.deepEqual(texts(late), ['one', 'two']);
    assert.deepEqual(await stored(one), late);
  });
});
