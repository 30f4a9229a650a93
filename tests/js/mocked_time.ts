// Time that passes only as a test lets it pass, so that a busy machine changes nothing.

import assert from 'node:assert/strict';
import { mock } from 'node:test';

// The real one: what takes real time, such as loading a file, must not take seconds of the mocked clock.
const realTimeout = setTimeout;

/** Lets mocked time pass until a call has settled, some milliseconds a turn of the event loop. */
export async function passTimeUntil<T>(call: Promise<T>, stepMs = 50): Promise<T> {
  await timeUntil(call, stepMs);
  return call;
}

async function timeUntil(call: Promise<unknown>, stepMs: number): Promise<number> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  call.then(settle, settle);
  let passedMs = 0;
  for (; passedMs < 2000 * stepMs && !isSettled; passedMs += stepMs) {
    mock.timers.tick(stepMs);
    await new Promise((resolve) => realTimeout(resolve, 1));
  }
  assert.ok(isSettled, 'The call never settles.');
  return passedMs;
}

/** Mocks the timers, and returns how many milliseconds have to pass until a call of this process has settled. */
export async function mockedTimeOf(run: () => Promise<void>): Promise<number> {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const call = run();
    const passedMs = await timeUntil(call, 10);
    await call;
    return passedMs;
  } finally {
    mock.timers.reset();
  }
}
