/**
 * Keeps a program running while calls wait. Node ends a program that waits only for promises, and the timers of
 * background work do not keep it running.
 */

/** The longest delay of a timer, in milliseconds. */
const LONGEST_DELAY = 2 ** 31 - 1;

let holds = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Keeps the program running. @returns a function that ends this; call it once */
export function holdProgram(): () => void {
  holds += 1;
  timer ??= setInterval(() => undefined, LONGEST_DELAY);
  return release;
}

/** Keeps the program running until a call has settled. */
export function holdProgramUntil(call: Promise<unknown>): void {
  holdProgram();
  call.then(release, release);
}

function release(): void {
  holds -= 1;
  if (holds > 0) return;
  clearInterval(timer);
  timer = undefined;
}
