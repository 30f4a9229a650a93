/** Removes values from operations that a later value of the same key has overtaken. */
import type { Event } from '../../../values/model/event/event.js';
import { SHARED_PREFIXES, type SharedScope } from '../../../values/state/scope.js';
import { scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import { isWaiting, type Operation, type OperationEvent } from '../records/records.js';

/** Whether a key, without prefix, is one that is removed. */
type IsStripped = (key: string) => boolean;

/**
 * Removes the values that arrived operations have overtaken: those of the same keys in operations with lower numbers,
 * which wait behind a refusal. Sent later, they would replace the newer values.
 *
 * @param writers those that have arrived and write the state, in their order
 * @param arrived the numbers of all that have arrived
 */
export async function stripShared(
  transaction: CacheTransaction,
  owner: StateOwner,
  writers: readonly [Operation, ...Operation[]],
  arrived: ReadonlySet<number>,
): Promise<void> {
  const scope = scopeOf(owner);
  const last = (writers.at(-1) ?? writers[0]).number;
  for (const earlier of await transaction.states.writes(owner)) {
    if (earlier.number >= last) break;
    if (arrived.has(earlier.number)) continue;
    const later = writers.filter(({ number }) => number > earlier.number);
    const writes = later.flatMap(({ shared }) => shared[scope] ?? []);
    const keys = new Set(writes.flatMap(({ values }) => values.map(([key]) => key)));
    const isCleared = writes.some((write) => write.isCleared);
    const isStripped: IsStripped = (key) => isCleared || keys.has(key);
    const overlaps = earlier.values.some(([key]) => isStripped(key));
    if (!overlaps) continue;
    const all = [...(await transaction.outbox.below(owner)).values()].flat();
    const operation = all.find((other) => other.number === earlier.number);
    if (operation === undefined || !isWaiting(operation)) continue;
    const stripped = withoutKeys(operation, scope, isStripped);
    await transaction.outbox.change(operation.key, { put: [stripped] });
  }
}

/** Returns an operation without keys of a shared state. */
export function withoutKeys(
  operation: Operation,
  scope: SharedScope,
  isStripped: IsStripped,
): Operation {
  const { shared } = operation;
  const write = shared[scope];
  if (write === undefined) return operation;
  const values = write.values.filter(([key]) => !isStripped(key));
  const rest = { ...shared };
  if (values.length > 0 || write.isCleared) rest[scope] = { ...write, values };
  else Reflect.deleteProperty(rest, scope);
  const strip = (text: string): string => strippedText(text, SHARED_PREFIXES[scope], isStripped);
  const stripEvent = (event: OperationEvent): OperationEvent => {
    const parsed = JSON.parse(event.text) as Event;
    const text = strip(JSON.stringify(parsed.actions.stateDelta));
    parsed.actions.stateDelta = JSON.parse(text) as Record<string, unknown>;
    return { ...event, text: JSON.stringify(parsed) };
  };
  const stripped = { ...operation, shared: rest };
  switch (stripped.kind) {
    case 'create': {
      const { creation } = stripped;
      const { state, delta, events } = creation;
      const own = { state: strip(state), delta: strip(delta), events: events.map(stripEvent) };
      return { ...stripped, creation: { ...creation, ...own } };
    }
    case 'append':
    case 'rewind':
      return { ...stripped, event: stripEvent(stripped.event) };
    case 'update':
      return { ...stripped, delta: strip(stripped.delta) };
    case 'describe':
    case 'delete':
    case 'clear':
      return stripped;
  }
}

function strippedText(text: string, prefix: string, isStripped: IsStripped): string {
  const all = JSON.parse(text) as Record<string, unknown>;
  const isGone = (key: string): boolean =>
    key.startsWith(prefix) && isStripped(key.slice(prefix.length));
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([key]) => !isGone(key))));
}
