/** How mutations leave the outbox, and what becomes of those that depend on them. */
import type { OutboxOfKey, Rules } from './happening.js';
import { movedBehind } from './moving.js';
import { type Mutation, replacedVersionOf, type Replaces } from './mutation.js';
import { blockersOf, blocksAll } from './refusals.js';

/**
 * Removes mutations that will not be sent. Mutations that have waited for a refused one come behind those that were
 * sent meanwhile: the remote has seen the numbers of these.
 */
export function withoutUnsent(
  outbox: OutboxOfKey,
  removed: readonly Mutation[],
  rules: Rules,
): OutboxOfKey {
  if (removed.length === 0) return outbox;
  const rest = inherited(outbox, removed);
  const before = blockersOf(outbox);
  const after = blockersOf(rest);
  const released = rest.filter(({ number }) => {
    const blocker = before.get(number);
    return blocker !== undefined && !blocksAll(blocker) && !after.has(number);
  });
  return [...without(rest, released), ...movedBehind(released, rules)];
}

/** Removes mutations. A mutation that was to replace their event replaces what they were to replace. */
export function inherited(outbox: OutboxOfKey, removed: readonly Mutation[]): OutboxOfKey {
  const left = withHeirs(outbox, removed, (_, { replaces = 'nothing' }) => replaces);
  return without(left, removed);
}

/** Removes mutations, by their numbers. */
export function without(outbox: OutboxOfKey, removed: readonly Mutation[]): OutboxOfKey {
  const numbers = new Set(removed.map(({ number }) => number));
  return outbox.filter(({ number }) => !numbers.has(number));
}

/** Gives what replaces the events of other mutations something else to replace. */
export function withHeirs(
  outbox: OutboxOfKey,
  earlier: readonly Mutation[],
  versionOf: (heir: Mutation<'append'>, left: Mutation) => Replaces,
): OutboxOfKey {
  return outbox.map((mutation) => {
    let heir = mutation;
    for (;;) {
      const { mutation: replaced } = replacedVersionOf(heir);
      const left = replaced && earlier.find(({ number }) => number === replaced);
      if (!left) return heir;
      heir = { ...heir, replaces: versionOf(mutation as Mutation<'append'>, left) };
    }
  });
}

/** Changes the mutations with these numbers. */
export function changed(
  outbox: OutboxOfKey,
  numbers: readonly number[],
  changesOf: (mutation: Mutation) => Partial<Mutation> | undefined,
): OutboxOfKey {
  const meant = new Set(numbers);
  return outbox.map((mutation) => {
    const changes = meant.has(mutation.number) ? changesOf(mutation) : undefined;
    return changes === undefined ? mutation : { ...mutation, ...changes };
  });
}
