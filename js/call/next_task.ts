/** The most events that a long computation handles before it pauses. */
export const EVENTS_PER_TASK = 1000;

/** Lets other tasks of the program run. To await a promise is not enough: its continuation comes before them. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}
