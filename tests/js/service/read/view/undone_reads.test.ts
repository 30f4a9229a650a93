// How many events a view reads after a rewind that undoes most of a session.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createMemoryStorage } from '../../../../../js/core/wasm/all.js';
import { parseTexts } from '../../../../../js/core/storage/stored_events.js';
import { WasmStore } from '../../../../../js/core/storage/wasm/wasm_store.js';
import { createEvent, type EventActions } from '../../../../../js/index.js';
import { openStorage } from '../../../../../js/service/database/database_session_service.js';
import { partsOver } from '../../../../../js/service/over_storage.js';
import { ServiceCore } from '../../../../../js/service/service_core.js';
import type { ServiceParts } from '../../../../../js/service/service_options.js';
import { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { DATABASE_TRAITS } from '../../../../../js/stores/database/database_traits.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const COUNT = 4000;
/** The events from 500 on are undone. */
const UNDONE = 500;
const LAST = 20;

const partsOf: Record<string, () => ServiceParts> = {
  memory: () => ({
    storage: { kind: 'memory', durable: false },
    openStore: () =>
      new WasmStore(createMemoryStorage(), {
        holdsData: true,
        parse: (texts) => parseTexts(texts as readonly string[]),
      }),
  }),
  SQLite: () =>
    partsOver({ kind: 'sqlite', traits: DATABASE_TRAITS }, () =>
      openStorage({ url: 'sqlite::memory:' }),
    ),
};

/** A service that counts the events that its store reads. */
function counting(parts: ServiceParts) {
  const counted = { events: 0, reads: 0 };
  const openStore: ServiceParts['openStore'] = (options) => {
    const store = parts.openStore(options);
    const read = store.read.bind(store);
    store.read = async (request, call) => {
      const found = await read(request, call);
      const { events = [] } = (found ?? {}) as { readonly events?: readonly unknown[] };
      counted.events += events.length;
      counted.reads += 1;
      return found as never;
    };
    return store;
  };
  return {
    counted,
    service: new StoredSessionService(new ServiceCore({ ...parts, openStore }, {})),
  };
}

const event = (id: string, invocationId: string, actions = {}) =>
  createEvent({
    id,
    invocationId,
    author: 'user',
    actions: actions as EventActions,
    content: { role: 'user', parts: [{ text: id }] },
  });

describe('A view after a rewind far back', () => {
  for (const [name, parts] of Object.entries(partsOf)) {
    it(`does not read the undone events over ${name}`, async () => {
      const { counted, service } = counting(parts());
      const session = await service.createSession(key);
      const early = Array.from({ length: UNDONE }, (_, at) => event(`e${at}`, `i${at}`));
      const undone = Array.from({ length: COUNT }, (_, at) => event(`u${at}`, `j${at}`));
      const late = ['l1', 'l2', 'l3'].map((id) => event(id, id));
      const marker = event('r', 'r', { rewindBeforeInvocationId: 'j0' });
      await service.appendEvents({ session, events: [...early, ...undone, marker, ...late] });
      const shown = [...early, ...late].map(({ id }) => id);
      for (const view of ['transcript', 'model'] as const) {
        counted.events = 0;
        const config = { view, numRecentEvents: LAST };
        const window = (await service.getSession({ ...key, config }))!;
        assert.deepEqual(
          window.events.map(({ id }) => id),
          shown.slice(-LAST),
        );
        assert.ok(counted.events < 4 * LAST, `${counted.events} for the end`);
        counted.events = 0;
        const request = { ...key, view, limit: LAST, withCount: false };
        const page = await service.listEvents(request);
        assert.deepEqual(
          page.events.map(({ id }) => id),
          shown.slice(-LAST),
        );
        const { events } = await service.listEvents({ ...request, before: page.before });
        assert.deepEqual(
          events.map(({ id }) => id),
          shown.slice(-2 * LAST, -LAST),
        );
        assert.ok(counted.events < 12 * LAST, `${counted.events} for two pages`);
      }
      await service.close();
    });
  }

  for (const [name, parts] of Object.entries(partsOf)) {
    it(`takes few reads after many rewinds in a row over ${name}`, async () => {
      const { counted, service } = counting(parts());
      const session = await service.createSession(key);
      const events = Array.from({ length: 300 }, (_, at) => [
        ...[event(`m${at}`, `i${at}`), event(`a${at}`, `i${at}`)],
        event(`r${at}`, `r${at}`, { rewindBeforeInvocationId: `i${at}` }),
      ]).flat();
      await service.appendEvents({
        session,
        events: [event('e', 'e'), ...events, event('l', 'l')],
      });
      counted.reads = 0;
      const config = { view: 'transcript', numRecentEvents: 2 } as const;
      const window = (await service.getSession({ ...key, config }))!;
      assert.deepEqual(
        window.events.map(({ id }) => id),
        ['e', 'l'],
      );
      assert.ok(counted.reads < 15, `${counted.reads} reads`);
      await service.close();
    });
  }
});
