// How long turns of the event loop are. A timer measures it: it is late by the rest of the turn in which it was due.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Before and after the work, so that the timer runs at both ends of it. A new histogram records from its second tick on. */
const MARGIN_MS = 5;

/**
 * @typedef {{ time: number, longest: number, p99: number }} Turns milliseconds: of the work, of its longest turn, and
 *   what 99 % of its turns do not exceed
 */

/** @param {() => Promise<unknown>} work @returns {Promise<Turns>} */
export async function turnsOf(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(MARGIN_MS);
  const start = performance.now();
  await work();
  const time = performance.now() - start;
  await sleep(MARGIN_MS);
  delay.disable();
  return { time, longest: delay.max / 1e6, p99: delay.percentile(99) / 1e6 };
}
