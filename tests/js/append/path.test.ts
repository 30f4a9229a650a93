// The table in ARCHITECTURE.md names the functions that an append passes on its way to the driver.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, mock } from 'node:test';

import { createEvent, InMemorySessionService, type SessionService } from '../../../js/index.js';
import { AppendGroups } from '../../../js/append/append_groups.js';
import type { HandleAppend } from '../../../js/append/waiting_calls.js';
import { DatabaseSessionService } from '../../../js/database/index.js';
import type { Runner } from '../../../js/database/engine/connection.js';
import { SQLITE } from '../../../js/database/engines/sqlite/sqlite.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../js/http/protocol.js';
import { Connection } from '../../../js/remote/connection/connection.js';
import { RemoteSessionService } from '../../../js/remote/index.js';
import { CORE } from '../../../js/model/initial_state.js';
import { ServiceCore } from '../../../js/service/service_core.js';
import { loadWasm } from '../../../js/wasm/loading.js';
import { StoredSessionService } from '../../../js/service/stored_session_service.js';
import { CoreBackend } from '../../../js/storage/core/core_backend.js';

const OWNER = { appName: 'shop', userId: 'ada' };

const architecture = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');
const [, section = ''] = /^## The way of an append\n([^]*?)^## /m.exec(architecture) ?? [];
/** The names in the first columns of the tables. */
const TABLE = new Set(
  [...section.matchAll(/^\| ([^|]*`[^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(?:\w+\.)?(#?\w+)`/g)].map(([, name]) => name),
  ),
);

/** The named functions of `js/` on the stack, the first called first. `after` only waits for what it is given. */
function namesOnStack(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  const frames = [...stack.matchAll(/^ +at ([\w.#$]+) .*\/js\/(?!append\/path)/gm)];
  const names = frames.map(([, name = '']) => name.replace(/^.*\./, ''));
  return names.filter((name) => name !== 'after').reverse();
}

/** @param others the functions that follow in the table, which the stack does not show */
function requirePath(names: readonly string[], others: number): void {
  assert.equal(names[0], 'appendEvent');
  for (const name of names)
    assert.ok(TABLE.has(name), `${name} of ${names.join(', ')} is not in the table`);
  // Without the public method and the driver.
  const between = names.length - 1 + others - 1;
  assert.ok(between <= 8, `${between} functions: ${names.join(', ')}`);
}

/** Appends an event. The driver may fail: it only notes the stack. */
async function append(service: SessionService): Promise<void> {
  const event = createEvent({ author: 'user', invocationId: 'i1' });
  const session = { id: 's1', ...OWNER, state: {}, events: [], lastUpdateTime: 0 };
  await service.appendEvent({ session, event }).catch(() => undefined);
}

/** Returns the functions from the public method to the driver, in two parts if the append waits for a microtask. */
async function pathOf(service: SessionService, spyOn: (note: () => void) => void) {
  const names: string[] = [];
  const note = (): void => void names.push(...namesOnStack());
  const { add } = AppendGroups.prototype;
  let waits = false;
  mock.method(AppendGroups.prototype, 'add', function (this: AppendGroups, given: HandleAppend) {
    const before = names.length;
    const first = [...namesOnStack(), 'add'];
    const added = add.call(this, given);
    waits = names.length === before;
    if (waits) names.push(...first);
    return added;
  });
  spyOn(note);
  await append(service);
  mock.restoreAll();
  return { names, waits };
}

const DRIVER_IN_WASM = 2; // `SessionCore::append`, and the driver.

describe('The way of an append', () => {
  it('over memory goes to the wasm before the call returns', async () => {
    const service = new InMemorySessionService();
    await service.createSession({ ...OWNER, sessionId: 's1' });
    const core = (service as unknown as { [CORE]: ServiceCore })[CORE];
    const backend = await core.callBackend(undefined, (backend) => backend as CoreBackend);
    const { names, waits } = await pathOf(service, (note) => {
      mock.method(backend.core, 'append', note);
    });
    assert.equal(waits, false);
    requirePath(names, DRIVER_IN_WASM);
  });

  it('over IndexedDB goes to the wasm in the next microtask', async () => {
    await loadWasm();
    const core = { append: () => undefined };
    const backend = new CoreBackend(core as never, { holdsData: false, parse: () => [] });
    const parts = { storage: { kind: 'indexeddb', durable: true }, openBackend: () => backend };
    const service = new StoredSessionService(new ServiceCore(parts));
    const { names, waits } = await pathOf(service, (note) => mock.method(core, 'append', note));
    assert.equal(waits, true);
    requirePath(names, DRIVER_IN_WASM);
  });

  it('over HTTP goes to the connection in the next microtask', async () => {
    const headers = { [PROTOCOL_HEADER]: PROTOCOL_VERSION };
    const fetch = () => Promise.resolve(Response.json({ keepsOperations: true }, { headers }));
    const service = new RemoteSessionService({ url: 'http://localhost', fetch });
    await service.ping();
    const { names, waits } = await pathOf(service, (note) => {
      mock.method(Connection.prototype, 'request', () => {
        note();
        throw new Error('noted');
      });
    });
    assert.equal(waits, true);
    requirePath(names, 1);
    await service.close();
  });

  it('over a SQL database goes to the runner in the next microtask', async () => {
    let note: (() => void) | undefined;
    const { connect } = SQLITE;
    mock.method(SQLITE, 'connect', async (...given: Parameters<typeof connect>) => {
      const connection = await connect(...given);
      const run: Runner = (...call) => {
        if (note === undefined) return connection.run(...call);
        note();
        throw new Error('noted');
      };
      return { ...connection, run };
    });
    const service = new DatabaseSessionService('sqlite::memory:');
    await service.createSession({ ...OWNER, sessionId: 's1' });
    const { names, waits } = await pathOf(service, (noteStack) => (note = noteStack));
    assert.equal(waits, true);
    requirePath(names, 1);
    await service.close();
  });
});
