/** What one request sends. */
import { corruptRecord, parseEventText } from '../../../core/storage/stored_events.js';
import type { MutationId } from '../../../values/model/diagnostic.js';
import { newEventId } from '../../../values/model/event/create_event.js';
import { type EventTexts, snapshotEvent } from '../../../values/model/event/snapshot.js';
import type { ExpectedEvents } from '../../../values/model/session.js';
import {
  askedMessageOf,
  type Copy,
  isOf,
  type Mutation,
  type OutboxEvent,
  type OutboxKind,
} from '../records/records.js';
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
    const { write, base, sent } = mutation;
    const isAlike =
      write.kind === first.write.kind &&
      base.localId === first.base.localId &&
      sent.attempts === first.sent.attempts &&
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
  for (const { write, base } of mutations) {
    const [{ id }] = write.events;
    const { expected: revision, isBound } = base;
    if (revision === undefined || expected.has(id)) continue;
    // Only the highest possible revision is known. With `null` the remote refuses the event, and tells its revision.
    expected.set(id, isBound === true ? null : revision);
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
