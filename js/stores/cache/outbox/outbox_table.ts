/**
 * The machine of the outbox: what becomes of the mutations of one session or state when something happens. It is pure.
 * What it has to know of the copy and of other sessions is read before.
 *
 * | phase        | claimed | stored                  | copied | refused | unstored, heldByRun | gone                     | retried           | dropped |
 * | ------------ | ------- | ----------------------- | ------ | ------- | ------------------- | ------------------------ | ----------------- | ------- |
 * | fresh        | sent    | –                       | –      | refused | –                   | the first: refused       | –                 | leaves  |
 * | sent         | sent    | acknowledged, or leaves | –      | refused | fresh, or sent      | the first: refused       | –                 | leaves  |
 * | acknowledged | –       | –                       | leaves | –       | –                   | leaves                   | –                 | –       |
 * | refused      | –       | –                       | –      | –       | –                   | stays; a deletion leaves | fresh, behind all | leaves  |
 *
 * An append and a rewind are acknowledged until the copy has their revision; everything else leaves when it is stored.
 * What a refused mutation blocks moves behind all others when that is retried or dropped. A creation is retried in its
 * place, because all its session waits for it. A message that was sent and is given up leaves a `cancel` in its place.
 *
 * | creation    | existed | merged                    | absent                                             | allowed |
 * | ----------- | ------- | ------------------------- | -------------------------------------------------- | ------- |
 * | new         | exists  | appends                   | –                                                  | –       |
 * | exists      | exists  | appends                   | new                                                | –       |
 * | provisional | –       | leaves                    | leaves, or refused if a mutation needs the session | allowed |
 * | allowed     | –       | leaves                    | new; what needs the session leaves                 | –       |
 */
import { added, deleted, dropped, givenUp, retried, userDeleted } from './edits.js';
import type {
  Effect,
  Happening,
  HappeningOf,
  OutboxOfKey,
  Rules,
  Seen,
  Step,
} from './happening.js';
import { changed, inherited, withHeirs, without, withoutUnsent } from './leaving.js';
import { renumbered, withoutWritten } from './moving.js';
import {
  attemptsOf,
  eventOf,
  eventsOf,
  FRESH,
  isOf,
  isOfEvent,
  isOfGivenUp,
  isOpen,
  isRefused,
  isSent,
  isWaiting,
  type Mutation,
  NEW,
  ownRefusalOf,
  type Refusal,
  replacedVersionOf,
  type Replaces,
  shownEventIdOf,
} from './mutation.js';

export function step(outbox: OutboxOfKey, happening: Happening, seen: Seen): Step {
  let { counter } = seen;
  const effects: Effect[] = [];
  const rules: Rules = {
    ...seen,
    draw: () => (counter += 1),
    note: (effect) => void effects.push(effect),
  };
  const rule = RULES[happening.type] as Rule<Happening['type']>;
  const after = rule(outbox, happening, rules);
  return { outbox: after, effects, counter };
}

type Rule<Type extends Happening['type']> = (
  outbox: OutboxOfKey,
  happening: HappeningOf<Type>,
  rules: Rules,
) => OutboxOfKey;

const RULES: { readonly [Type in Happening['type']]: Rule<Type> } = {
  added,
  deleted,
  userDeleted,
  retried,
  dropped,
  givenUp,
  stored,
  gone,
  copied,
  stripped,
  merged,
  absent,
  keptByRemote,
  refused,
  unstored,
  claimed: (outbox, { numbers, attempts }) =>
    changed(outbox, numbers, (mutation) =>
      isOpen(mutation) ? { phase: { is: 'sent', attempts } } : undefined,
    ),
  // A late answer is one to an earlier attempt.
  heldByRun: (outbox, { numbers, attempts }) =>
    changed(outbox, numbers, (mutation) =>
      attemptsOf(mutation) === attempts
        ? { phase: attempts > 1 ? { is: 'sent', attempts: attempts - 1 } : FRESH }
        : undefined,
    ),
  existed: (outbox, { number }) =>
    changed(outbox, [number], ({ creation }) =>
      creation === 'new' ? { creation: 'exists' } : undefined,
    ),
  allowed: (outbox, { number, write, shared }) =>
    changed(outbox, [number], (mutation) => {
      const phase = isRefused(mutation) ? FRESH : mutation.phase;
      return mutation.creation === 'provisional'
        ? { phase, creation: 'allowed', write, shared }
        : undefined;
    }),
  renumbered: (outbox, { numbers }) =>
    changed(outbox, [...numbers.keys()], ({ number }) => ({ numbers: numbers.get(number)! })),
};

function unstored(
  outbox: OutboxOfKey,
  { numbers }: Pick<HappeningOf<'unstored'>, 'numbers'>,
): OutboxOfKey {
  return changed(outbox, numbers, (mutation) =>
    isSent(mutation) ? { phase: FRESH, creation: mutation.creation && 'new' } : undefined,
  );
}

/** A late answer, to what is not sent any more, changes nothing. */
function stored(
  outbox: OutboxOfKey,
  { numbers, at, revisions }: HappeningOf<'stored'>,
  rules: Rules,
): OutboxOfKey {
  const answered = sentOf(outbox, numbers);
  if (answered.length === 0) return outbox;
  const known = withStored(outbox, answered, rules, revisions);
  const left = answered.filter((mutation) => at === undefined || !isOfEvent(mutation));
  const rest = without(known, left);
  const { copy } = rules;
  const isOfCopy = left.some((each) => isOf(each, 'delete') && each.localId === copy?.localId);
  if (isOfCopy || (rest.length === 0 && copy === undefined)) rules.note('copy leaves');
  if (at === undefined) return rest;
  return changed(rest, numbers, (each) =>
    isSent(each) ? { phase: { is: 'acknowledged', at } } : undefined,
  );
}

/** The mutations with these numbers whose answer is missing. */
function sentOf(outbox: OutboxOfKey, numbers: readonly number[]): OutboxOfKey {
  const meant = new Set(numbers);
  return outbox.filter((mutation) => meant.has(mutation.number) && isSent(mutation));
}

/** What was to replace the events of stored mutations replaces the versions at the remote. */
function withStored(
  outbox: OutboxOfKey,
  earlier: readonly Mutation[],
  { copy, revisions }: Pick<Seen, 'copy' | 'revisions'>,
  told?: ReadonlyMap<string, number>,
): OutboxOfKey {
  return withHeirs(outbox, earlier, (heir): Replaces => {
    const { id } = eventOf(heir);
    const inCopy = revisions.get(id);
    const revision = told?.get(id) ?? (inCopy?.isExact === true ? inCopy.revision : undefined);
    if (revision !== undefined) return { revision };
    const atMost = inCopy?.revision ?? copy?.revision;
    return atMost === undefined ? 'nothing' : { atMost };
  });
}

/** An event is sent again if the version at the remote is one that it may replace. */
function refused(
  outbox: OutboxOfKey,
  { number, refusal, actual }: Omit<HappeningOf<'refused'>, 'type'>,
  { note }: Rules,
): OutboxOfKey {
  const mutation = outbox.find((other) => other.number === number);
  if (mutation === undefined || !isOpen(mutation)) return outbox;
  if (actual !== undefined && !isSent(mutation)) return outbox;
  if (typeof actual === 'number' && mayReplace(mutation, actual)) {
    return changed(outbox, [number], () => ({ phase: FRESH, replaces: { revision: actual } }));
  }
  const given = isOf(mutation, 'create') ? outbox.filter(isOfGivenUp) : [];
  if (given.length > 0) {
    // It was given up meanwhile.
    note('copy leaves');
    return inherited(outbox, [mutation, ...given]);
  }
  if (isOf(mutation, 'create', 'describe', 'delete')) note('shown otherwise');
  return withRefusal(outbox, mutation, refusal);
}

function withRefusal(outbox: OutboxOfKey, mutation: Mutation, given: Refusal): OutboxOfKey {
  const refusal = isOfEvent(mutation) ? { ...given, eventId: shownEventIdOf(mutation) } : given;
  return changed(outbox, [mutation.number], () => ({ phase: { is: 'refused', refusal } }));
}

function mayReplace(mutation: Mutation, actual: number): boolean {
  const { replaces } = mutation;
  const { atMost = -1 } = replacedVersionOf(mutation);
  return replaces === 'nothing' || replaces === 'anything' || actual <= atMost;
}

function gone(
  outbox: OutboxOfKey,
  { localId, refusal }: HappeningOf<'gone'>,
  { note }: Rules,
): OutboxOfKey {
  const own = outbox.filter((mutation) => mutation.localId === localId);
  const isDone = (mutation: Mutation): boolean =>
    !isWaiting(mutation) || (isRefused(mutation) && isOf(mutation, 'delete'));
  const waiting = own.filter((mutation) => !isDone(mutation));
  // One that was refused before stays as it is, unless there is no other.
  const first = waiting.find((mutation) => !isRefused(mutation)) ?? waiting[0];
  // The answer to a creation, a deletion or a cancelling tells what happened.
  if (isOf(first, 'create', 'delete', 'cancel')) return outbox;
  const rest = inherited(outbox, own.filter(isDone));
  if (first === undefined) note('copy leaves');
  const isKnown = waiting.some((mutation) => ownRefusalOf(mutation)?.code === 'not_found');
  return first === undefined || isKnown ? rest : withRefusal(rest, first, refusal);
}

function copied(
  outbox: OutboxOfKey,
  { localId, revision }: HappeningOf<'copied'>,
  seen: Rules,
): OutboxOfKey {
  const isCopied = ({ phase, localId: own }: Mutation): boolean =>
    own === localId && phase.is === 'acknowledged' && phase.at <= revision;
  const removed = outbox.filter(isCopied);
  return without(withStored(outbox, removed, seen), removed);
}

function stripped(outbox: OutboxOfKey, { scope, writes }: HappeningOf<'stripped'>): OutboxOfKey {
  return outbox.map((mutation) => {
    const later = writes.filter(({ number }) => number > mutation.number);
    return isWaiting(mutation) ? withoutWritten(mutation, scope, later) : mutation;
  });
}

/** Turns a creation into appends: another device has created the session before. */
function merged(
  outbox: OutboxOfKey,
  { number }: HappeningOf<'merged'>,
  { draw, note }: Rules,
): OutboxOfKey {
  const creation = outbox.find((other) => other.number === number);
  if (!isOf(creation, 'create')) return outbox;
  const { localId } = creation;
  const { key } = creation.write;
  // Nobody deletes another device's session, only because this one has given up its first message.
  const given = outbox.filter(isOfGivenUp);
  if (given.length > 0) note('shown again');
  const others = without(outbox, [creation, ...given]);
  // The appends get new numbers, because the remote has seen those up to the creation's.
  const appends = eventsOf(creation).map(({ seq, localVersion, ...event }): Mutation<'append'> => ({
    ...NEW,
    number: draw(),
    write: { kind: 'append', key, events: [event] },
    numbers: [{ seq, localVersion }],
    localId,
    time: event.timestamp,
    replaces: 'nothing',
  }));
  const numbers = new Map(appends.map((append) => [eventOf(append).id, append.number]));
  const heirs = withHeirs(others, [creation], (heir) => {
    const mutation = numbers.get(eventOf(heir).id);
    return mutation === undefined ? 'nothing' : { mutation };
  });
  return appends.length === 0 ? heirs : [...appends, ...renumbered(heirs, draw)];
}

function absent(
  outbox: OutboxOfKey,
  { number, refusal }: HappeningOf<'absent'>,
  rules: Rules,
): OutboxOfKey {
  const creation = outbox.find((other) => other.number === number);
  if (!isOf(creation, 'create') || creation.creation === 'new') return outbox;
  const behind = outbox.filter((each) => each.localId === creation.localId && each.number > number);
  const demanding = behind.filter(({ needsSession }) => needsSession);
  if (creation.creation !== 'provisional') {
    if (demanding.length > 0) rules.note('shown otherwise');
    return unstored(withoutUnsent(outbox, demanding, rules), { numbers: [number] });
  }
  // It blocks all behind it.
  if (demanding.length > 0) return refused(outbox, { number, refusal }, rules);
  const deletions = behind.filter((each) => isOf(each, 'delete'));
  const rest = inherited(outbox, [creation, ...deletions.slice(0, 1)]);
  if (rest.length === 0) rules.note('copy leaves');
  return rest;
}

function keptByRemote(
  outbox: OutboxOfKey,
  { numbers }: HappeningOf<'keptByRemote'>,
  { note }: Rules,
): OutboxOfKey {
  const deletions = sentOf(outbox, numbers);
  if (deletions.length > 0) note('shown again');
  return without(outbox, deletions);
}
