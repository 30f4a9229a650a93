/** Maps that remember so much and no more: what stands first in them is forgotten first. */

/** Puts it at the end, as the last that would be forgotten. */
export function putLast<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  forget(map, most);
}

/** Leaves the last so many. */
export function forget(map: Map<unknown, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
