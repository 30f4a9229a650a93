import type { RefusedOfSession } from '../../core/core_of.js';
import { belongsTo, type StateOwner } from '../../core/storage/scopes.js';
import { parseEventText } from '../../core/storage/stored_events.js';
import type { SessionError } from '../../values/errors/errors.js';
import { parseLabels } from '../../values/model/description.js';
import type { Event } from '../../values/model/event/event.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { isSession } from './records/cache_key.js';
import { errorOf } from './records/failures.js';
import {
  isOf,
  isRefused,
  type Mutation,
  type OutboxEvent,
  type OutboxKind,
  ownRefusalOf,
  type Refusal,
} from './outbox/mutation.js';

/** Why the remote refused a change for good. */
export type OutboxError = SessionError & {
  /** The event that was refused. Absent if something else was. */
  readonly eventId?: string;
};

export function outboxErrorOf(refusal: Refusal): OutboxError {
  const { eventId } = refusal;
  return Object.assign(errorOf(refusal), eventId !== undefined && { eventId });
}

/** What a change of the outbox is, with its values. */
type ChangeValues =
  | {
      /** A session was created. */
      readonly kind: 'create';
      /** Its initial state, with prefixes. */
      readonly state: Readonly<StateShape>;
      /** Absent without a title. */
      readonly title?: string;
      /** Absent without labels. */
      readonly labels?: Readonly<Record<string, string>>;
      /** The events that it was created with. */
      readonly events: readonly Event[];
    }
  | {
      /** An event was appended. */
      readonly kind: 'append';
      readonly event: Event;
    }
  | {
      /** Turns were undone. */
      readonly kind: 'rewind';
      /** The marker, and the message that was stored with it. */
      readonly events: readonly Event[];
    }
  | {
      /** A session got a title; `null` removes it. */
      readonly kind: 'title';
      readonly title: string | null;
    }
  | {
      /** A session got other labels. */
      readonly kind: 'labels';
      readonly labels: Readonly<Record<string, string>>;
    }
  | {
      /** The state of a user or an app was changed. */
      readonly kind: 'state';
      readonly stateDelta: Readonly<StateShape>;
    }
  | {
      /** A session, a user with all sessions, or the state of a user or an app was deleted. */
      readonly kind: 'delete';
      readonly what: 'session' | 'user' | 'userState' | 'appState';
    }
  | {
      /** The run of a message was cancelled. */
      readonly kind: 'cancel';
      readonly messageId: string;
    };

/** A change that the remote does not have. */
export type OutboxChange = ChangeValues & {
  /** Whether the remote has refused it for good. */
  readonly isRefused: boolean;
};

type Changes = {
  readonly [Kind in OutboxKind]: (mutation: Mutation<Kind>) => readonly ChangeValues[];
};

const CHANGES: Changes = {
  create: ({ write }) => {
    const { title, labels } = write.description;
    const state = JSON.parse(write.state) as StateShape;
    return [
      {
        kind: 'create',
        state: { ...state, ...(JSON.parse(write.delta) as StateShape) },
        ...(title && { title }),
        ...(labels && { labels: parseLabels(labels) }),
        events: eventsIn(write.events),
      },
    ];
  },
  append: ({ write }) =>
    eventsIn(write.events).map((event) => ({ kind: 'append', event }) as const),
  rewind: ({ write }) => [{ kind: 'rewind', events: eventsIn(write.result.events) }],
  describe: ({ write: { title, labels } }) => [
    ...(title === undefined ? [] : [{ kind: 'title', title: title || null } as const]),
    ...(labels === undefined
      ? []
      : [{ kind: 'labels', labels: labels ? parseLabels(labels) : {} } as const]),
  ],
  update: ({ write }) => [{ kind: 'state', stateDelta: JSON.parse(write.delta) as StateShape }],
  delete: ({ write: { what } }) => [{ kind: 'delete', what }],
  cancel: ({ write: { messageId } }) => [{ kind: 'cancel', messageId }],
};

/** Returns the changes of a mutation. */
export function changesOf(mutation: Mutation): readonly OutboxChange[] {
  const read = CHANGES[mutation.write.kind] as Changes[OutboxKind] &
    ((given: Mutation) => readonly ChangeValues[]);
  return read(mutation).map((change) => ({ ...change, isRefused: isRefused(mutation) }));
}

/** Returns the changes of refused mutations that are no events, of the sessions of an app or a user. */
export function refusedOfSessions(
  refused: readonly Mutation[],
  owner: StateOwner,
): readonly RefusedOfSession[] {
  return refused.flatMap((mutation) => {
    const refusal = ownRefusalOf(mutation);
    const { key } = mutation.write;
    if (refusal === undefined || !isSession(key) || !belongsTo(key, owner)) return [];
    return sessionKindsOf(mutation).map((kind) => ({ key, kind, error: outboxErrorOf(refusal) }));
  });
}

function sessionKindsOf(mutation: Mutation): RefusedOfSession['kind'][] {
  if (isOf(mutation, 'create')) return ['create'];
  if (isOf(mutation, 'delete')) return ['delete'];
  if (!isOf(mutation, 'describe')) return [];
  const { title, labels } = mutation.write;
  return [
    ...(title === undefined ? [] : ['title' as const]),
    ...(labels === undefined ? [] : ['labels' as const]),
  ];
}

/** A damaged event has no form. */
function eventsIn(events: readonly OutboxEvent[]): readonly Event[] {
  return events.flatMap(({ text }) => parseEventText(text) ?? []);
}
