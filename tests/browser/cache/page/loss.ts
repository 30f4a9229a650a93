// What a page finds out about the loss of its cache's database.

import type { CacheLoss } from 'adk-session-wasm/cache';
import * as chat from './chat.js';

/** Resolves with the loss that the status shows. */
export async function untilLost(): Promise<CacheLoss> {
  return (await chat.untilStatus(({ lost }) => lost !== undefined)).lost!;
}

/** Resolves when the status shows no loss. */
export async function untilAcknowledged(): Promise<void> {
  await chat.untilStatus(({ lost }) => lost === undefined);
}

export async function acknowledgeLoss(): Promise<void> {
  await chat.opened().acknowledgeLoss();
}

/** Resolves when this number of events waits. */
export async function untilPending(count: number): Promise<void> {
  await chat.untilStatus(
    ({ pending }) => pending.reduce((sum, { events }) => sum + events, 0) === count,
  );
}

/** Reads locally, as a page does that was just opened, and returns whether the status shows a loss. */
export async function isLost(): Promise<boolean> {
  await chat.opened().outbox.list();
  return chat.opened().status.lost !== undefined;
}

/** Returns the names of what waits of a session, with how often each is stored. */
export async function unsentTexts(): Promise<string[]> {
  const entries = await chat.opened().outbox.list();
  return entries.flatMap(({ events }) =>
    events.map(({ content }) => String(content?.parts?.[0]?.text)),
  );
}

const markerOf = (owner: string): string => `adk-session-wasm:cache:${owner}`;

/** Resolves when it is remembered, or no more, outside of the database that an owner has data. */
export async function untilMarked(owner: string, isMarked: boolean): Promise<void> {
  while ((await caches.has(markerOf(owner))) !== isMarked) await pause();
}

/** Resolves when it is noted outside of the database that so many events wait. */
export async function untilNoted(owner: string, events: number): Promise<void> {
  const cacheName = markerOf(owner);
  for (;;) {
    for (const request of (await caches.has(cacheName))
      ? await (await caches.open(cacheName)).keys()
      : []) {
      const text = await (await caches.match(request, { cacheName }))?.text();
      if (text?.includes(`"events":${events}`)) return;
    }
    await pause();
  }
}

/** Deletes what the browser deletes too when the user clears the data of the site. */
export async function clearCaches(): Promise<void> {
  for (const name of await caches.keys()) await caches.delete(name);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
