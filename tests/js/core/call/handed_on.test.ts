// The `Call` that a public method makes: each request of the method has it, as it is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent } from '../../../../js/index.js';
import type { Call } from '../../../../js/core/call/call.js';
import { ServiceCore } from '../../../../js/service/service_core.js';
import { StoredSessionService } from '../../../../js/service/stored_session_service.js';
import { WasmStore } from '../../../../js/core/storage/wasm/wasm_store.js';
import { parseTexts } from '../../../../js/core/storage/stored_events.js';
import { createMemoryStorage } from '../../../../js/core/wasm/all.js';

const OWNER = { appName: 'shop', userId: 'ada' };
const KEY = { ...OWNER, sessionId: 's1' };

/** Opens a service in memory, over a store that notes the call of each request. `onRequest` is called before its work. */
function open(isSynchronous = true, onRequest?: (call: Call) => void) {
  const calls: Call[] = [];
  const mutations: unknown[] = [];
  const memory = new WasmStore(createMemoryStorage(), {
    holdsData: true,
    parse: (texts) => parseTexts(texts as readonly string[]),
  });
  const store = new Proxy(memory, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (request: { mutation?: unknown }, call: Call): unknown => {
        calls.push(call);
        mutations.push(request.mutation);
        onRequest?.(call);
        return Reflect.apply(member, target, [request, call]);
      };
    },
  });
  const storage = { kind: 'memory', durable: false } as const;
  const cache = {};
  const parts = {
    storage,
    traits: { isSynchronous },
    beginCall: () => cache,
    openStore: () => store,
  };
  const core = new ServiceCore(parts, { onDiagnostic: () => undefined });
  return { service: new StoredSessionService(core), calls, mutations, cache };
}

describe('The call of a public method', () => {
  it('is one object in all its requests, with all that the method has taken', async () => {
    const { service, calls, cache } = open();
    const { signal } = new AbortController();
    await service.getOrCreateSession({ ...KEY, signal });
    const [read, created] = calls;
    assert.equal(calls.length, 2);
    assert.equal(read, created);
    assert.equal(read!.signal, signal);
    assert.equal(read!.store, cache);
    assert.deepEqual(read!.facts, { retries: 0 });
    read!.onRetry!();
    assert.deepEqual(read!.facts, { retries: 1 });
  });

  it('has no number of a write, which each write has itself', async () => {
    const { service, calls, mutations } = open();
    const mutation = { client: crypto.randomUUID(), number: 1 };
    const request = { ...OWNER, stateDelta: { 'user:a': 1 }, mutation };
    await service.updateState(request);
    assert.deepEqual(mutations, [mutation]);
    assert.ok(!('mutation' in calls[0]!));
  });

  it('is not the call of the write that joins it with others, which continues without it', async () => {
    const stops = [new AbortController(), new AbortController()];
    let isStopped: boolean | undefined;
    const { service, calls } = open(false, ({ signal }) => {
      if (calls.length === 1) return;
      stops[0]!.abort();
      isStopped = signal!.aborted;
    });
    const session = await service.createSession(KEY);
    const appends = stops.map(({ signal }) =>
      service.appendEvent({ session, event: createEvent({ author: 'user' }), signal }),
    );
    await Promise.all(appends);
    assert.equal(calls.length, 2);
    assert.equal(isStopped, false);
    assert.equal(session.events.length, 2);
    assert.equal(calls[1]!.facts, undefined);
  });
});
