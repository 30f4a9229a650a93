/**
 * Keeps a program running while calls wait. Node ends a program when it has only promises to wait for, and the timers of
 * the background keep no program running.
 */

/** The longest delay of a timer, in milliseconds. */
const LONGEST_DELAY = 2 ** 31 - 1;

let heldCalls = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps the program running until a call has settled. */
export function holdProgram(call: Promise<unknown>): void {
  heldCalls += 1;
  timer ??= setInterval(() => undefined, LONGEST_DELAY);
  call.then(release, release);
}

function release(): void {
  heldCalls -= 1;
  if (heldCalls > 0) return;
  clearInterval(timer);
  timer = undefined;
}
