/** How long a program runs, and how objects are disposed of. */

// Keeps a program running while calls wait, and not while only background work does. Node ends a program that waits
// only for promises.

/** The longest delay of a timer, in milliseconds. */
const LONGEST_DELAY = 2 ** 31 - 1;

let holds = 0;
let timer: ReturnType<typeof setInterval> | undefined;
/** What made the timer. Tests replace it for a while, and a timer of theirs keeps no program running. */
let maker: typeof setInterval | undefined;

/** Keeps the program running. @returns a function that ends this; call it once */
export function holdProgram(): () => void {
  holds += 1;
  if (holds > 1) return release;
  if (maker !== setInterval) timer = undefined;
  maker = setInterval;
  timer ??= setInterval(() => undefined, LONGEST_DELAY);
  if (typeof timer === 'object') timer.ref();
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
  // Node keeps the timer: to make one for each call would take longer than a call over memory may.
  if (typeof timer === 'object') return void timer.unref();
  clearInterval(timer);
  timer = undefined;
}

/** Starts a timer that does not keep a program of Node running. */
export function backgroundTimer(work: () => void, delayMs: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, delayMs);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/**
 * Lets `await using` end an object, if the host has `Symbol.asyncDispose`. Safari lacks it: a
 * method declared with it would be named `'undefined'` there.
 *
 * @param target the object, or the prototype of a class
 * @param dispose called on the object
 */
export function makeDisposable<T extends object>(
  target: T,
  dispose: (this: T) => unknown,
): T & AsyncDisposable {
  if (typeof Symbol.asyncDispose === 'symbol') {
    Object.defineProperty(target, Symbol.asyncDispose, {
      async value(this: T) {
        await dispose.call(this);
      },
      configurable: true,
      writable: true,
    });
  }
  return target as T & AsyncDisposable;
}
