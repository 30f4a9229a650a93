/** The JSON of a value with its keys in order, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    if (members[key] === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(members[key])}`;
  }
  return `{${text}}`;
}

/** A cache of canonical texts by an event's JSON: the same events are read many times. */
const cache = new Map<string, string>();
const MAX_CACHED = 5000;

/**
 * The canonical text of an event. The service generates the ids of `updateState` events, so
 * their ids are not compared.
 */
export function canonicalEvent(event: object): string {
  const json = JSON.stringify(event);
  let text = cache.get(json);
  if (text === undefined) {
    const { invocationId } = event as { invocationId?: unknown };
    const isOfUpdate = typeof invocationId === 'string' && invocationId.startsWith('p-');
    text = canonical(isOfUpdate ? { ...event, id: '', invocationId: 'p-' } : event);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(json, text);
  }
  return text;
}

/** Two texts from where they differ. */
export function difference(actual: string, expected: string): string {
  let from = 0;
  while (actual[from] === expected[from]) from += 1;
  from = Math.max(0, from - 60);
  return `as\n… ${actual.slice(from)}\nand not\n… ${expected.slice(from)}`;
}
