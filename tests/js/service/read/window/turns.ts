// Sessions with turns of a user and an agent, for the option `numRecentEvents` of services for a `Runner`.

import assert from 'node:assert/strict';

import {
  createEvent,
  type Event,
  type Part,
  type Session,
  type SessionService,
} from '../../../../../js/index.js';
import { asAdkService } from '../../../../../js/service/adk/index.js';
import { begin, type Open } from '../../fixture.js';

/** An event with an id that describes it. */
function event(id: string, author: string, parts: Part[], more: Partial<Event> = {}): Event {
  return createEvent({ ...more, id, author, content: { role: 'user', parts } });
}

export const asks = (id: string, more?: Partial<Event>): Event =>
  event(id, 'user', [{ text: id }], more);
export const tells = (id: string, more?: Partial<Event>): Event =>
  event(id, 'guide', [{ text: id }], more);
/** What the user said in a live session. */
export const speaks = (id: string): Event =>
  createEvent({ id, author: 'user', inputTranscription: { text: id, finished: true } });
export const calls = (id: string, ...called: string[]): Event =>
  event(id, 'guide', called.map((id) => ({ functionCall: { id, name: 'tool', args: {} } }))); // prettier-ignore
export const answers = (id: string, called: string, author = 'guide'): Event =>
  event(id, author, [{ functionResponse: { id: called, name: 'tool', response: {} } }]);

/** Turns of one question and one answer each. */
export function turns(first: number, count: number): Event[] {
  return Array.from({ length: count }, (_, number) => first + number).flatMap((number) => [
    asks(`q${number}`),
    tells(`a${number}`),
  ]);
}

export function ids(session: Session | undefined): string[] {
  assert.ok(session, 'there is no session');
  return session.events.map(({ id }) => id);
}

/** A service for a `Runner` that gives out the last `numRecentEvents`, over a session with these events. */
export async function holding(
  open: Open,
  numRecentEvents: number,
  events: Event[],
  stale: 'merge' | 'append' | 'reject' = 'append',
): Promise<SessionService> {
  const { service, session } = await begin(open);
  await service.appendEvents({ session, events });
  return asAdkService(service, { numRecentEvents, stale });
}
