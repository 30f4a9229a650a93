/** What has happened to mutations, as it is stored: apart from their texts. */
import { nameOf } from '../records/cache_key.js';
import {
  type Mutation,
  type SentRange,
  type SentRecord,
  type StoredMutation,
  UNSENT,
} from '../records/records.js';

/** Returns the record of a mutation. */
export function storedMutation({ number, write, numbers, base, shared }: Mutation): StoredMutation {
  return { number, write, numbers, base, shared };
}

/** Whether two mutations have the same record: they differ at most in what has happened to them. */
export function isSameRecord(one: Mutation, other: Mutation): boolean {
  const { write, numbers, base, shared } = one;
  return (
    write === other.write &&
    numbers === other.numbers &&
    base === other.base &&
    shared === other.shared
  );
}

/** Whether a mutation was neither sent nor refused. */
export function isUntouched({ sent, refusal }: Mutation): boolean {
  return sent.attempts === 0 && sent.acknowledgedAt === undefined && refusal === undefined;
}

/** Returns what has happened to the mutations of one session or state, which come in order. */
export function sentRangesOf(mutations: readonly Mutation[]): readonly SentRange[] {
  const ranges: SentRange[] = [];
  let previous: Mutation | undefined;
  for (const mutation of mutations) {
    const { number, sent, refusal } = mutation;
    const range = ranges.at(-1);
    const isAlike =
      previous !== undefined &&
      previous.refusal === refusal &&
      previous.sent.attempts === sent.attempts &&
      previous.sent.acknowledgedAt === sent.acknowledgedAt;
    previous = mutation;
    if (isUntouched(mutation)) continue;
    if (isAlike && range !== undefined) ranges[ranges.length - 1] = { ...range, last: number };
    else ranges.push({ first: number, last: number, ...sent, refusal });
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
    if (range === undefined || number < range.first) return { ...mutation, sent: UNSENT };
    const { attempts, acknowledgedAt, refusal } = range;
    return { ...mutation, sent: { attempts, acknowledgedAt }, refusal };
  });
}
