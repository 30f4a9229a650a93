/** The rules of the outbox for what users do: they write, delete, retry and give up. */
import type { SharedScope } from '../../../values/state/scope.js';
import type { HappeningOf, OutboxOfKey, Rules } from './happening.js';
import { without, withoutUnsent } from './leaving.js';
import { movedBehind, renumbered } from './moving.js';
import {
  askedMessageOf,
  FRESH,
  isOf,
  isRefused,
  isSent,
  isWaiting,
  type Mutation,
  NEW,
  ownRefusalOf,
  replacedVersionOf,
} from './mutation.js';
import { blockersOf, withDependents } from './refusals.js';

/** Only what was lost and is stored again has a lower number than others, or is there. */
export function added(outbox: OutboxOfKey, { mutations }: HappeningOf<'added'>): OutboxOfKey {
  const last = outbox.at(-1)?.number ?? -Infinity;
  if (mutations.every(({ number }) => number > last)) return [...outbox, ...mutations];
  const missing = without(mutations, outbox);
  return [...outbox, ...missing].sort((one, other) => one.number - other.number);
}

export function retried(
  outbox: OutboxOfKey,
  { numbers }: HappeningOf<'retried'>,
  rules: Rules,
): OutboxOfKey {
  const blockers = blockersOf(outbox);
  const isChosen = (mutation: Mutation | undefined): boolean =>
    mutation !== undefined && isRefused(mutation) && numbers.includes(mutation.number);
  const retry = (mutation: Mutation): Mutation => (isChosen(mutation) ? reset(mutation) : mutation);
  const moved = outbox.filter((mutation) => {
    const reason = isRefused(mutation) ? mutation : blockers.get(mutation.number);
    return isChosen(reason) && !isOf(reason, 'create');
  });
  return [...without(outbox, moved).map(retry), ...movedBehind(moved.map(retry), rules)];
}

/** A retried append is stored whatever others have appended since, and replaces whichever version is stored. */
function reset(mutation: Mutation): Mutation {
  const { replaces } = mutation;
  const { revision, atMost } = replacedVersionOf(mutation);
  const replacesAny = (revision ?? atMost) !== undefined;
  return {
    ...mutation,
    phase: FRESH,
    since: undefined,
    replaces: replacesAny ? 'anything' : replaces,
  };
}

export function dropped(
  outbox: OutboxOfKey,
  { numbers, shortened }: HappeningOf<'dropped'>,
  rules: Rules,
): OutboxOfKey {
  const removed = outbox.filter((each) => numbers.includes(each.number) && isWaiting(each));
  const whole = outbox.map((each) => {
    const part = shortened.find(({ number }) => number === each.number);
    return part === undefined ? each : { ...part, phase: isRefused(each) ? FRESH : each.phase };
  });
  return withoutDropped(whole, removed, rules);
}

/** A copy leaves with its last mutation if it is of a session that the remote does not have. */
function withoutDropped(
  outbox: OutboxOfKey,
  removed: readonly Mutation[],
  rules: Rules,
): OutboxOfKey {
  const rest = withoutUnsent(outbox, removed, rules);
  const [first, second] = rest;
  // The remote has refused a provisional session, and no mutation is left that needs one.
  const isOnlyRefused =
    first?.creation === 'provisional' && isRefused(first) && second === undefined;
  if (first !== undefined && !isOnlyRefused) return rest;
  const isGone = removed.some((each) => ownRefusalOf(each)?.code === 'not_found');
  if (rules.copy === undefined || isGone) rules.note('copy leaves');
  return [];
}

/** Takes along what makes no sense without the message. What may have arrived is cancelled in its place. */
export function givenUp(
  outbox: OutboxOfKey,
  { messageId, isCancelled }: HappeningOf<'givenUp'>,
  rules: Rules,
): OutboxOfKey {
  const messages = outbox.filter((each) => isWaiting(each) && askedMessageOf(each) === messageId);
  const [first] = messages;
  if (first === undefined) return outbox;
  const rest = withoutDropped(outbox, withDependents(outbox, messages), rules);
  // A session without a copy was never sent.
  if (isCancelled || !messages.some(isSent) || (rest.length === 0 && rules.copy === undefined)) {
    return rest;
  }
  const key = first.write.key as Mutation<'cancel'>['write']['key'];
  const cancelling: Mutation = {
    ...NEW,
    // A number of its own, so that a late answer to the message is none to the cancelling.
    number: rules.draw(),
    write: { kind: 'cancel', key, messageId },
    localId: first.localId,
  };
  const later = rest.filter(({ number }) => number > first.number);
  return [...without(rest, later), cancelling, ...renumbered(later, rules.draw)];
}

export function deleted(
  outbox: OutboxOfKey,
  { localId, mayBeRemote, write }: HappeningOf<'deleted'>,
  rules: Rules,
): OutboxOfKey {
  const isOfSession = (mutation: Mutation): boolean => mutation.localId === localId;
  const isDeletion = (each: Mutation): boolean => isOf(each, 'delete') && !isRefused(each);
  if (outbox.some((each) => isOfSession(each) && isDeletion(each))) return outbox;
  const rest = pruned(outbox, localId, ['user', 'app'], rules);
  if (!mayBeRemote && !rest.some(isOfSession)) return withRecord(rest, rules);
  return [...rest, { ...NEW, number: rules.draw(), write, localId }];
}

/** The deletion of the user hides the rest. The state of the app outlives a user. */
export function userDeleted(
  outbox: OutboxOfKey,
  _: HappeningOf<'userDeleted'>,
  rules: Rules,
): OutboxOfKey {
  const localIds = new Set(outbox.map(({ localId }) => localId));
  const rest = [...localIds].reduce((left, id) => pruned(left, id, ['app'], rules), outbox);
  return withRecord(rest, rules);
}

/** The record of a session that was never sent leaves with the last mutation. */
function withRecord(rest: OutboxOfKey, { copy, note }: Rules): OutboxOfKey {
  if (rest.length === 0 && copy === undefined) note('record leaves');
  return rest;
}

/**
 * Removes the mutations of a session that need not be sent before it is deleted.
 *
 * @param scopes those whose keys are still sent
 */
function pruned(
  outbox: OutboxOfKey,
  localId: number,
  scopes: readonly SharedScope[],
  rules: Rules,
): OutboxOfKey {
  const own = outbox.filter((mutation) => mutation.localId === localId);
  const isNeeded = (mutation: Mutation): boolean => {
    const { phase, shared } = mutation;
    if (phase.is !== 'fresh') return phase.is !== 'refused';
    return isOf(mutation, 'cancel') || scopes.some((scope) => shared[scope] !== undefined);
  };
  const isAnyNeeded = own.some(isNeeded);
  const removed = own.filter((mutation) => {
    const isOfNeeded = isAnyNeeded && isOf(mutation, 'create') && !isRefused(mutation);
    return !isNeeded(mutation) && !isOfNeeded;
  });
  return withoutUnsent(outbox, removed, rules);
}
