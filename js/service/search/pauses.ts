/** The UTF-16 units of texts, read or folded, after which the loop gets a turn. They take some milliseconds. */
const UNITS = 2 ** 16;

/** Gives the loop a turn from time to time during a long work, so that others do not wait for its end. */
export class Pauses {
  #units = 0;

  /** Notes work by its UTF-16 units. Resolves after a turn of the loop if there was much since the last one. */
  async after(units: number): Promise<void> {
    this.#units += units;
    if (this.#units < UNITS) return;
    this.#units = 0;
    await nextTurn();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve);
  });
}

/** Returns about how many UTF-16 units a value has as JSON. */
export function sizeOfJson(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOfJson(item);
    return size;
  }
  for (const [key, member] of Object.entries(value)) size += key.length + 3 + sizeOfJson(member);
  return size;
}
