/** What one request sends. */
import { corruptRecord, parseEventText } from '../../../core/storage/stored_events.js';
import type { MutationId } from '../../../values/model/diagnostic.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import { type EventTexts, snapshotEvent } from '../../../values/model/event/snapshot.js';
import type { ExpectedEvents } from '../../../values/model/session.js';
import type { Copy } from '../records/records.js';
import {
  askedMessageOf,
  attemptsOf,
  isOf,
  type Mutation,
  type OutboxEvent,
  type OutboxKind,
  replacedVersionOf,
} from '../outbox/mutation.js';
import type { Mutations } from './answers.js';

/** What one request sends: mutations of one kind. */
export interface BatchOf<Kind extends OutboxKind> {
  readonly kind: Kind;
  readonly mutations: Mutations<Kind>;
  readonly client: string;
  readonly copy: Copy | undefined;
  readonly mayGoOn: CanSend;
}

export type Batch = { [Kind in OutboxKind]: BatchOf<Kind> }[OutboxKind];

/** The most mutations, and about the most characters, of one request. */
const MAX_MUTATIONS = 100;
const MAX_CHARACTERS = 500_000;

/** Whether another mutation may be sent now. */
export type CanSend = (mutation: Mutation) => boolean;

/**
 * Takes the mutations of one request: one, or several appends or changes of a state. A message that asks for a run is
 * sent alone. Mutations that were sent together without an answer are sent together again, under the same number, so
 * that the remote applies them once.
 */
export function batchOf(
  sendable: readonly Mutation[],
  most = MAX_MUTATIONS,
  mayGoOn: CanSend,
): Mutation[] {
  const [first] = sendable;
  if (first === undefined) return [];
  if (!isOf(first, 'append', 'update') || isAsked(first)) return [first];
  const batch: Mutation[] = [];
  let size = 0;
  for (const mutation of sendable) {
    const { write, localId } = mutation;
    const isAlike =
      write.kind === first.write.kind &&
      localId === first.localId &&
      attemptsOf(mutation) === attemptsOf(first) &&
      !isAsked(mutation);
    if (write.kind === 'append') size += write.events[0].text.length;
    if (write.kind === 'update') size += write.delta.length;
    const isFull = batch.length > 0 && (batch.length >= most || size > MAX_CHARACTERS);
    if (!isAlike || isFull || (batch.length > 0 && !mayGoOn(mutation))) break;
    batch.push(mutation);
  }
  return batch;
}

function isAsked(mutation: Mutation): boolean {
  return askedMessageOf(mutation) !== undefined;
}

/**
 * Returns the revisions that replaced events must have at the remote. If an event is written twice, the first counts.
 */
export function expectedOf(mutations: readonly Mutation<'append'>[]): ExpectedEvents {
  const expected = new Map<string, number | null>();
  for (const each of mutations) {
    const [{ id }] = each.write.events;
    const { mutation, revision = null } = replacedVersionOf(each);
    // Without a known revision the remote refuses an event that is there, and tells its revision.
    if (mutation === undefined && !expected.has(id)) expected.set(id, revision);
  }
  return Object.fromEntries(expected);
}

/** Returns the number by which the remote knows what a request sends. */
export function mutationOf({ mutations, client }: Pick<Batch, 'mutations' | 'client'>): MutationId {
  return { client, number: (mutations.at(-1) ?? mutations[0]).number };
}

export function snapshotOf({ text }: OutboxEvent): EventTexts {
  const event = parseEventText(text);
  if (event === undefined) throw corruptRecord('event of the outbox', undefined);
  return snapshotEvent(event, Date.now, newEventId);
}
