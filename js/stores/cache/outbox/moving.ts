/** Gives mutations other numbers, and removes from them the values that later mutations have overtaken. */
import type { Event } from '../../../values/model/event/event.js';
import { SHARED_PREFIXES, SHARED_SCOPES, type SharedScope } from '../../../values/state/scope.js';
import type { Rules, Seen } from './happening.js';
import {
  FRESH,
  isOf,
  isSent,
  type Mutation,
  type OutboxEvent,
  replacedVersionOf,
  type SharedWrite,
} from './mutation.js';

/** Gives mutations new numbers, in the same order. The remote knows nothing of them. */
export function renumbered(mutations: readonly Mutation[], draw: Rules['draw']): Mutation[] {
  const numbers = new Map<number, number>();
  return mutations.map((mutation) => {
    const number = draw();
    numbers.set(mutation.number, number);
    const phase = isSent(mutation) ? FRESH : mutation.phase;
    const moved: Mutation = { ...mutation, number, phase };
    const { mutation: replaced } = replacedVersionOf(mutation);
    if (replaced === undefined) return moved;
    return { ...moved, replaces: { mutation: numbers.get(replaced) ?? replaced } };
  });
}

/**
 * Moves mutations behind all others: returns them with new numbers, and without the values of shared keys that others
 * have written since.
 */
export function movedBehind(mutations: readonly Mutation[], { writes, draw }: Rules): Mutation[] {
  const numbers = new Set(mutations.map(({ number }) => number));
  const rest = mutations.map((mutation) => withoutOvertaken(mutation, writes, numbers));
  return renumbered(rest, draw).map((mutation) => ({
    ...mutation,
    // Stores that show the events notice that their places have changed.
    numbers: mutation.numbers.map(() => {
      const seq = draw();
      return { seq, localVersion: seq };
    }),
  }));
}

/**
 * Removes from a mutation the values of those shared keys that later mutations have written.
 *
 * @param moved the numbers of the mutations that get new numbers together
 */
function withoutOvertaken(
  mutation: Mutation,
  writes: Seen['writes'],
  moved: ReadonlySet<number>,
): Mutation {
  return SHARED_SCOPES.reduce((result, scope) => {
    const later = (writes[scope] ?? []).filter(
      ({ number, isRefused }) => number > mutation.number && !moved.has(number) && !isRefused,
    );
    return withoutWritten(result, scope, later);
  }, mutation);
}

/** Returns whether writes of a shared state replace the value of a key. */
export function writtenBy(writes: readonly SharedWrite[]): (key: string) => boolean {
  const keys = new Set(writes.flatMap(({ values }) => values.map(([key]) => key)));
  const isCleared = writes.some((write) => write.isCleared);
  return (key) => isCleared || keys.has(key);
}

/** Removes from a mutation the values of those keys of a shared state that later writes replace. */
export function withoutWritten(
  mutation: Mutation,
  scope: SharedScope,
  later: readonly SharedWrite[],
): Mutation {
  const { shared } = mutation;
  const change = shared[scope];
  if (change === undefined || later.length === 0) return mutation;
  const isStripped = writtenBy(later);
  const values = change.values.filter(([key]) => !isStripped(key));
  if (values.length === change.values.length) return mutation;
  const rest = { ...shared };
  if (values.length > 0 || change.isCleared) rest[scope] = { ...change, values };
  else Reflect.deleteProperty(rest, scope);
  const strip = <Values extends object>(given: Values): Values => {
    const all = Object.entries(given);
    const prefix = SHARED_PREFIXES[scope];
    const isLeft = (key: string): boolean =>
      !key.startsWith(prefix) || !isStripped(key.slice(prefix.length));
    return Object.fromEntries(all.filter(([key]) => isLeft(key))) as Values;
  };
  const stripText = (text: string): string => JSON.stringify(strip(JSON.parse(text) as object));
  const stripEvent = (event: OutboxEvent): OutboxEvent => {
    const parsed = JSON.parse(event.text) as Event;
    parsed.actions.stateDelta = strip(parsed.actions.stateDelta);
    return { ...event, text: JSON.stringify(parsed) };
  };
  const stripped: Mutation = { ...mutation, shared: rest };
  if (isOf(stripped, 'create')) {
    const { state, delta, events } = stripped.write;
    const own = {
      state: stripText(state),
      delta: stripText(delta),
      events: events.map(stripEvent),
    };
    return { ...stripped, write: { ...stripped.write, ...own } };
  }
  if (isOf(stripped, 'append')) {
    const [event] = stripped.write.events;
    const events = [stripEvent(event)] as const;
    return { ...stripped, write: { ...stripped.write, events } };
  }
  if (isOf(stripped, 'update')) {
    return { ...stripped, write: { ...stripped.write, delta: stripText(stripped.write.delta) } };
  }
  return stripped;
}
