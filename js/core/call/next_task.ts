/** The most events that a long computation handles before it pauses. */
export const EVENTS_PER_TASK = 1000;

/** Lets other tasks of the program run. Awaiting a promise is not enough: its continuation comes before them. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** Maps a long list in several tasks, so that others run between them. `map` gets up to {@link EVENTS_PER_TASK} items. */
export async function mapInTasks<Item, Result>(
  items: readonly Item[],
  map: (items: readonly Item[]) => readonly Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += EVENTS_PER_TASK) {
    if (start > 0) await nextTask();
    results.push(...map(items.slice(start, start + EVENTS_PER_TASK)));
  }
  return results;
}
