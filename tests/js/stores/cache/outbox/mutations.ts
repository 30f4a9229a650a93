// Mutations of one session, for the tests of the outbox's table.

import type {
  Effect,
  Happening,
  Seen,
  Step,
} from '../../../../../js/stores/cache/outbox/happening.js';
import {
  eventsOf,
  FRESH,
  type Mutation,
  NEW,
  ownRefusalOf,
  type Refusal,
} from '../../../../../js/stores/cache/outbox/mutation.js';
import { step } from '../../../../../js/stores/cache/outbox/outbox_table.js';
import { KEY } from '../fixture.js';

/** The local id of the session. */
export const LOCAL_ID = 1;

export const NOT_FOUND: Refusal = { code: 'not_found', message: 'It is gone.' };
export const FORBIDDEN: Refusal = { code: 'remote', message: 'You may not.', status: 403 };

const session = { localId: LOCAL_ID, time: 0 };

function eventOf(id: string, author = 'user', delta: object = {}) {
  const invocationId = `i-${id}`;
  const event = { id, author, invocationId, timestamp: 1, actions: { stateDelta: delta } };
  return { id, timestamp: 1, text: JSON.stringify(event), author, invocationId };
}

/** An append of a message. */
export function append(
  number: number,
  id: string,
  more: Partial<Mutation> = {},
): Mutation<'append'> {
  return {
    ...NEW,
    ...session,
    number,
    write: { kind: 'append', key: KEY, events: [eventOf(id)] },
    numbers: [{ seq: number, localVersion: number }],
    replaces: 'nothing',
    ...more,
  } as Mutation<'append'>;
}

/** An append of a message that the remote's agent is to answer. */
export function ask(number: number, id: string, more: Partial<Mutation> = {}): Mutation<'append'> {
  const made = append(number, id, more);
  return { ...made, write: { ...made.write, run: {} } };
}

/** An append that writes a value of the user's state. */
export function appendShared(number: number, id: string, name: string): Mutation<'append'> {
  const event = eventOf(id, 'user', { [`user:${name}`]: number });
  return append(number, id, {
    write: { kind: 'append', key: KEY, events: [event] },
    shared: { user: { isCleared: false, values: [[name, number]] } },
  });
}

/** A rewind of the turn of a message, which is sent again as another one; without that an undo. */
export function rewind(
  number: number,
  place: Mutation<'rewind'>['write']['place'],
  messageId?: string,
): Mutation<'rewind'> {
  const marker = { id: `marker-${number}`, invocationId: `i-marker-${number}` };
  const event = eventOf(marker.id);
  const message =
    messageId === undefined ? undefined : { id: messageId, invocationId: `i-${messageId}` };
  const following = messageId === undefined ? [] : [eventOf(messageId)];
  const events = [event, ...following] as const;
  return {
    ...NEW,
    ...session,
    number,
    write: {
      kind: 'rewind',
      key: KEY,
      marker,
      place,
      message,
      run: message && {},
      result: { events, state: '{}' },
    },
    numbers: events.map(() => ({ seq: number, localVersion: number })),
    replaces: 'nothing',
  };
}

export function create(number: number, more: Partial<Mutation> = {}): Mutation<'create'> {
  return {
    ...NEW,
    ...session,
    number,
    write: {
      kind: 'create',
      key: KEY,
      ifAbsent: true,
      state: '{}',
      delta: '{}',
      sharesState: true,
      description: { initialState: '{}' },
      lastUpdateTime: undefined,
      now: 1,
      events: [],
    },
    creation: 'new',
    ...more,
  } as Mutation<'create'>;
}

export function describeSession(number: number, title: string): Mutation<'describe'> {
  return { ...NEW, ...session, number, write: { kind: 'describe', key: KEY, title } };
}

/** The write of a deletion. */
export const DELETION: Mutation<'delete'>['write'] = { kind: 'delete', what: 'session', key: KEY };

export const sent = (attempts = 1): Pick<Mutation, 'phase'> => ({
  phase: { is: 'sent', attempts },
});
export const acknowledged = (at: number): Pick<Mutation, 'phase'> => ({
  phase: { is: 'acknowledged', at },
});
export const refused = (refusal = FORBIDDEN): Pick<Mutation, 'phase'> => ({
  phase: { is: 'refused', refusal },
});
export const fresh: Pick<Mutation, 'phase'> = { phase: FRESH };

export const NOTHING_SEEN: Seen = { revisions: new Map(), writes: {}, counter: 100 };
/** What is seen of a session whose copy is here. */
export const COPIED: Seen = { ...NOTHING_SEEN, copy: { localId: LOCAL_ID, revision: 10 } };

/** Takes what happens in turn. */
export function after(
  outbox: readonly Mutation[],
  happenings: readonly Happening[],
  seen: Seen = COPIED,
): Step {
  const effects: Effect[] = [];
  let done: Step = { outbox, effects: [], counter: seen.counter };
  for (const happening of happenings) {
    done = step(done.outbox, happening, { ...seen, counter: done.counter });
    effects.push(...done.effects);
  }
  return { ...done, effects };
}

/** Each mutation in a word: what it is, of which event, and its phase. */
export function shown({ outbox }: { readonly outbox: readonly Mutation[] }): string[] {
  return outbox.map((mutation) => {
    const ids = eventsOf(mutation).map(({ id }) => id);
    const { kind } = mutation.write;
    const reason = ownRefusalOf(mutation)?.code;
    return [kind, ...ids, mutation.phase.is, ...(reason === undefined ? [] : [reason])].join(' ');
  });
}
