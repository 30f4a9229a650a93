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

/** Canonical texts of events by their JSON, as the same ones are read again and again. */
const known = new Map<string, string>();
const MAX_KNOWN = 5000;

/**
 * An event as the model compares it. The service itself names the events of `updateState`, so that their
 * ids mean nothing.
 */
export function canonicalEvent(event: object): string {
  const json = JSON.stringify(event);
  let text = known.get(json);
  if (text === undefined) {
    const { invocationId } = event as { invocationId?: unknown };
    const isOfUpdate = typeof invocationId === 'string' && invocationId.startsWith('p-');
    text = canonical(isOfUpdate ? { ...event, id: '', invocationId: 'p-' } : event);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(json, text);
  }
  return text;
}
