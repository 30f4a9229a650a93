// Session services that are unreachable and were not closed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IndexedDbSessionService, type IndexedDbSessionServiceOptions } from 'adk-session-wasm';
import { around } from '../page/around.js';
import { keyOf, mark } from '../page/events.js';
import { opened } from '../../opened.js';
import { pageScript } from '../../page_script.js';
import { serveModule } from '../../server.js';

export const page = () => ({ dropServices });

const COUNT = 40;
const FEW = 3;

describe('IndexedDB session services that were not closed', () => {
  const context = opened('chromium', async () => serveModule(await pageScript(import.meta.url)), {
    arguments: ['--js-flags=--expose-gc'],
  });

  it('are collected when only their own onDataLoss refers to them', async () => {
    const tab = await context.browser.openTab<ReturnType<typeof page>>(`${context.site.origin}/`);
    const { made, left } = await tab.call('dropServices', { name: 'dropped' }, COUNT, FEW);
    assert.equal(made.services, COUNT);
    assert.ok(made.cores >= COUNT, `each has a core: ${made.cores}`);
    assert.ok(left.services <= FEW && left.cores <= FEW, `left: ${JSON.stringify(left)}`);
  });
});

/** Rounds of garbage collection, after which whatever is left counts as held. */
const ROUNDS = 100;

/** The objects that must be collected: the services, and the objects with a part in the wasm. */
interface CollectionResult {
  made: { services: number; cores: number };
  left: { services: number; cores: number };
}

/** Opens so many, uses each and drops it; `few` may be left, as what the last call still had on its stack. */
async function dropServices(
  options: IndexedDbSessionServiceOptions,
  count: number,
  few: number,
): Promise<CollectionResult> {
  const services: WeakRef<object>[] = [];
  const cores: WeakRef<object>[] = [];
  const end = around(FinalizationRegistry.prototype, 'register', (registry, args, proceed) => {
    cores.push(new WeakRef(args[0] as object));
    return proceed(...args);
  });
  for (let number = 0; number < count; number += 1) {
    services.push(await useAndDrop(options, `event ${number}`));
  }
  end();
  const left = () => ({ services: alive(services), cores: alive(cores) });
  await collectUntil(() => left().services <= few && left().cores <= few);
  return { made: { services: services.length, cores: cores.length }, left: left() };
}

async function collectUntil(isDone: () => boolean): Promise<void> {
  for (let round = 0; round < ROUNDS && !isDone(); round += 1) {
    // In a separate task: an object that was read through a WeakRef lives until the end of its task.
    await new Promise((resolve) => setTimeout(resolve, 20));
    (globalThis as unknown as { gc(): void }).gc();
  }
}

async function useAndDrop(
  options: IndexedDbSessionServiceOptions,
  id: string,
): Promise<WeakRef<object>> {
  // It refers to its own service, as an application's does.
  const onDataLoss = async () => {
    await service.getSession(keyOf('one'));
  };
  const service = new IndexedDbSessionService({ ...options, onDataLoss });
  const session = await service.getOrCreateSession(keyOf('one'));
  await service.appendEvent({ session, event: mark(id) });
  return new WeakRef(service);
}

function alive(refs: readonly WeakRef<object>[]): number {
  return refs.filter((ref) => ref.deref() !== undefined).length;
}
