/** Maps with a maximum size. They drop the entries that were put first. */

/** Puts an entry at the end of the map, where it is dropped last. Leaves at most `most` entries. */
export function putLast<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  while (map.size > most) map.delete(map.keys().next().value!);
}
