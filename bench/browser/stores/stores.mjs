// Databases for both sides, with equal contents. They are deleted afterwards.

import { createEvent } from 'adk-session-wasm';
import { makeEvents } from '../../events.mjs';
import { user } from './user.mjs';

const BATCH = 1000;

/**
 * @typedef {typeof import('./bare.mjs').Bare} Bare
 * @typedef {typeof import('./ours.mjs').Ours} Ours
 * @typedef {InstanceType<Bare> | InstanceType<Ours>} Store
 */

/** Events with the current time, as an agent appends them. @param {number} count @param {number} first */
export function eventsNow(count, first) {
  const timestamp = Date.now();
  return makeEvents(count, first, (event) => createEvent({ ...event, timestamp }));
}

/**
 * Calls `run` with open, empty stores, each in its own database.
 *
 * @template {Record<string, Bare | Ours>} Sides
 * @template Value
 * @param {Sides} sides
 * @param {(stores: { [Side in keyof Sides]: InstanceType<Sides[Side]> }) => Promise<Value>} run
 */
export async function withStores(sides, run) {
  const opened = [];
  try {
    /** @type {Record<string, Store>} */
    const stores = {};
    for (const [side, Side] of Object.entries(sides)) {
      const name = `bench-${crypto.randomUUID()}`;
      const store = await Side.open(name, user);
      opened.push({ store, drop: () => Side.drop(name) });
      stores[side] = store;
    }
    return await run(/** @type {any} */ (stores));
  } finally {
    for (const { store, drop } of opened) {
      await store.close();
      await drop();
    }
  }
}

/**
 * Makes a session with the given number of events. The last one is appended with its delta, so that all three states exist.
 *
 * @param {Store} store
 * @param {string} id
 * @param {number} count
 */
export async function filled(store, id, count) {
  await store.create([id], Date.now());
  for (let first = 0; first < count - 1; first += BATCH) {
    await store.fill({ id }, eventsNow(Math.min(BATCH, count - 1 - first), first));
  }
  const handle = await store.load(id, 0);
  await store.append(handle, eventsNow(1, count - 1)[0]);
  return handle;
}
