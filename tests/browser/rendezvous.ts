// A point at which two pages wait for each other: the server's handler, and the function that the pages call.

import type { Respond } from './server.js';

/** The path of the rendezvous. */
export const RENDEZVOUS_PATH = '/meet';

/** Answers the first of two pages when the second one has come. */
export function rendezvous(): Respond {
  const first = new Map<string, () => void>();
  return async (_, query) => {
    const point = query.get('point') ?? '';
    const other = first.get(point);
    if (other === undefined) {
      await new Promise<void>((resolve) => first.set(point, resolve));
    } else {
      first.delete(point);
      other();
    }
    return { body: '' };
  };
}

/** In a page: waits until two pages are at this point. */
export async function meet(point: string): Promise<void> {
  await fetch(`${RENDEZVOUS_PATH}?point=${encodeURIComponent(point)}`, { method: 'POST' });
}
