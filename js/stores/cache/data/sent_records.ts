/** What is known of mutations at the remote, as it is stored: apart from their texts. */
import { FRESH, type Mutation, type Phase, type StoredMutation } from '../outbox/mutation.js';
import { isEqualJson } from '../../../values/json/equal.js';
import { nameOf } from '../records/cache_key.js';

/** What is known of some mutations of a session or state that follow one another, at the remote. */
export interface SentRange {
  /** The number of the first one. */
  readonly first: number;
  /** The number of the last one. */
  readonly last: number;
  readonly phase: Phase;
}

/**
 * What is known of the mutations of a session or state at the remote, in `outbox`. It is a record of its own, so that
 * sending stores no text again: there may be no room for one.
 */
export interface SentRecord {
  /** The name of the session or state. */
  readonly name: string;
  readonly ranges: readonly SentRange[];
}

/** Returns the record of a mutation. */
export function storedMutation(mutation: Mutation): StoredMutation {
  return { ...mutation, phase: undefined };
}

/** Whether two mutations have the same record: they differ at most in their phase. */
export function isSameRecord(one: Mutation, other: Mutation): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof Mutation)[];
  return names.every((name) => name === 'phase' || one[name] === other[name]);
}

/** Whether a mutation was neither sent nor refused. */
export function isUntouched({ phase }: Mutation): boolean {
  return phase.is === 'fresh';
}

/** Returns the phases of the mutations of one session or state, which come in order. */
export function sentRangesOf(mutations: readonly Mutation[]): readonly SentRange[] {
  const ranges: SentRange[] = [];
  let previous: Mutation | undefined;
  for (const mutation of mutations) {
    const { number, phase } = mutation;
    const range = ranges.at(-1);
    const isAlike = previous !== undefined && isEqualJson(previous.phase, phase);
    previous = mutation;
    if (isUntouched(mutation)) continue;
    if (isAlike && range !== undefined) ranges[ranges.length - 1] = { ...range, last: number };
    else ranges.push({ first: number, last: number, phase });
  }
  return ranges;
}

/** Returns mutations from their records, by name of their session or state. */
export function mutationsFrom(
  records: readonly (StoredMutation | SentRecord)[],
): Map<string, readonly Mutation[]> {
  const stored = new Map<string, StoredMutation[]>();
  const sent = new Map<string, readonly SentRange[]>();
  for (const record of records) {
    if ('ranges' in record) {
      sent.set(record.name, record.ranges);
      continue;
    }
    const name = nameOf(record.write.key);
    const others = stored.get(name);
    if (others === undefined) stored.set(name, [record]);
    else others.push(record);
  }
  return new Map(
    [...stored].map(([name, mutations]) => [name, withRanges(mutations, sent.get(name) ?? [])]),
  );
}

function withRanges(
  stored: readonly StoredMutation[],
  ranges: readonly SentRange[],
): readonly Mutation[] {
  let place = 0;
  return stored.map((mutation): Mutation => {
    const { number } = mutation;
    while (place < ranges.length && ranges[place]!.last < number) place += 1;
    const range = ranges[place];
    const isIn = range !== undefined && number >= range.first;
    return { ...mutation, phase: isIn ? range.phase : FRESH };
  });
}
