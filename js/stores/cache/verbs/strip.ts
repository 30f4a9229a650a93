/** Removes values from mutations that a later value of the same key has overtaken, and moves mutations. */
import { ownerOf, scopeOf, type StateOwner } from '../../../core/storage/scopes.js';
import type { Event } from '../../../values/model/event/event.js';
import { SHARED_PREFIXES, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { CacheTransaction } from '../data/cache_transaction.js';
import {
  isOf,
  isWaiting,
  type Mutation,
  type OutboxEvent,
  type SharedWrite,
  isOfEvent,
  withBase,
} from '../records/records.js';

/** Whether a key, without prefix, is one that is removed. */
type IsStripped = (key: string) => boolean;

/**
 * Removes the values that acknowledged mutations have overtaken: those of the same keys in mutations with lower
 * numbers, which wait behind a refusal. Sent later, they would replace the newer values.
 *
 * @param writers the acknowledged mutations that write the state, in their order
 * @param acknowledged the numbers of all acknowledged mutations
 */
export async function stripShared(
  transaction: CacheTransaction,
  owner: StateOwner,
  writers: readonly [Mutation, ...Mutation[]],
  acknowledged: ReadonlySet<number>,
): Promise<void> {
  const scope = scopeOf(owner);
  const last = (writers.at(-1) ?? writers[0]).number;
  for (const earlier of await transaction.states.writes(owner)) {
    if (earlier.number >= last) break;
    if (acknowledged.has(earlier.number)) continue;
    const later = writers.filter(({ number }) => number > earlier.number);
    const writes = later.flatMap(({ shared }) => shared[scope] ?? []);
    const isStripped = strippedBy(writes);
    const overlaps = earlier.values.some(([key]) => isStripped(key));
    if (!overlaps) continue;
    const all = [...(await transaction.outbox.below(owner)).values()].flat();
    const mutation = all.find((other) => other.number === earlier.number);
    if (mutation === undefined || !isWaiting(mutation)) continue;
    const stripped = withoutSharedKeys(mutation, scope, isStripped);
    await transaction.outbox.change(mutation.write.key, { put: [stripped] });
  }
}

/**
 * Moves mutations behind all others: returns them with new numbers, and without the values of shared keys that others
 * have written since.
 */
export async function moveBehind(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
): Promise<Mutation[]> {
  const numbers = new Set(mutations.map(({ number }) => number));
  const all: Mutation[] = [];
  for (const each of mutations) all.push(await withoutOvertaken(transaction, each, numbers));
  return renumber(transaction, all).map((mutation) => ({
    ...mutation,
    // Stores that show the events notice that their places have changed.
    numbers: mutation.numbers.map(() => {
      const seq = transaction.nextNumber();
      return { seq, localVersion: seq };
    }),
  }));
}

/**
 * Removes from a mutation the values of those shared keys that later mutations have written.
 *
 * @param numbers those of the mutations that get new numbers together
 */
async function withoutOvertaken(
  transaction: CacheTransaction,
  mutation: Mutation,
  numbers: ReadonlySet<number>,
): Promise<Mutation> {
  let result = mutation;
  const { key } = mutation.write;
  for (const scope of SHARED_SCOPES) {
    if (result.shared[scope] === undefined) continue;
    const owner = ownerOf(scope, key);
    const later = (await transaction.states.writes(owner)).filter(
      ({ number, isRefused }) => number > mutation.number && !numbers.has(number) && !isRefused,
    );
    if (later.length > 0) result = withoutSharedKeys(result, scope, strippedBy(later));
  }
  return result;
}

/** Returns whether later writes of a shared state replace a key. */
function strippedBy(writes: readonly SharedWrite[]): IsStripped {
  const keys = new Set(writes.flatMap(({ values }) => values.map(([key]) => key)));
  const isCleared = writes.some((write) => write.isCleared);
  return (key) => isCleared || keys.has(key);
}

/** Returns a mutation without keys of a shared state. */
function withoutSharedKeys(
  mutation: Mutation,
  scope: SharedScope,
  isStripped: IsStripped,
): Mutation {
  const { shared } = mutation;
  const change = shared[scope];
  if (change === undefined) return mutation;
  const values = change.values.filter(([key]) => !isStripped(key));
  const rest = { ...shared };
  if (values.length > 0 || change.isCleared) rest[scope] = { ...change, values };
  else Reflect.deleteProperty(rest, scope);
  const strip = (text: string): string => strippedText(text, SHARED_PREFIXES[scope], isStripped);
  const stripEvent = (event: OutboxEvent): OutboxEvent => {
    const parsed = JSON.parse(event.text) as Event;
    const text = strip(JSON.stringify(parsed.actions.stateDelta));
    parsed.actions.stateDelta = JSON.parse(text) as Record<string, unknown>;
    return { ...event, text: JSON.stringify(parsed) };
  };
  const stripped = { ...mutation, shared: rest };
  if (isOf(stripped, 'create')) {
    const { state, delta, events } = stripped.write;
    const own = { state: strip(state), delta: strip(delta), events: events.map(stripEvent) };
    return { ...stripped, write: { ...stripped.write, ...own } };
  }
  if (isOf(stripped, 'append')) {
    const [event] = stripped.write.events;
    return { ...stripped, write: { ...stripped.write, events: [stripEvent(event)] } };
  }
  if (isOf(stripped, 'update')) {
    return { ...stripped, write: { ...stripped.write, delta: strip(stripped.write.delta) } };
  }
  return stripped;
}

function strippedText(text: string, prefix: string, isStripped: IsStripped): string {
  const all = JSON.parse(text) as Record<string, unknown>;
  const isGone = (key: string): boolean =>
    key.startsWith(prefix) && isStripped(key.slice(prefix.length));
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([key]) => !isGone(key))));
}

/** Gives mutations new numbers, in the same order. */
export function renumber(
  transaction: CacheTransaction,
  mutations: readonly Mutation[],
): Mutation[] {
  const numbers = new Map<number, number>();
  return mutations.map((mutation) => {
    const number = transaction.nextNumber();
    numbers.set(mutation.number, number);
    const renumbered = { ...mutation, number, sent: { ...mutation.sent, attempts: 0 } };
    if (!isOfEvent(renumbered) || renumbered.base.previous === undefined) return renumbered;
    const { previous } = renumbered.base;
    return withBase(renumbered, { previous: numbers.get(previous) ?? previous });
  });
}
