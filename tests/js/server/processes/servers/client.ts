// Requests to servers in other processes, and what a session must have afterwards.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import type { Event } from '../../../../../js/index.js';
import { asks } from '../../../ui/live/runs/agents.js';
import { type Answer, answerOf, APP, type Asked, requestTo } from '../../fixture.js';

export const keyOf = (sessionId: string) => ({ appName: APP, userId: 'ada', sessionId });
const pathOf = (sessionId: string): string => `/apps/${APP}/users/ada/sessions/${sessionId}`;

async function ask(origin: string, path: string, asked?: Asked): Promise<Answer> {
  const { method, headers, body } = requestTo(path, asked);
  const text = asked?.body === undefined ? {} : { body: await new Response(body).text() };
  return answerOf(await fetch(`${origin}${path}`, { method, headers, ...text }));
}

export async function createSession(origin: string, sessionId: string): Promise<void> {
  const { status, body } = await ask(origin, pathOf(sessionId), { body: {} });
  assert.equal(status, 200, JSON.stringify(body));
}

export const messageOf = (id: string, text: string) => ({
  id,
  invocationId: `i-${id}`,
  author: 'user',
  content: asks(text),
});

/** Sends a message, which has its text as its id, and has the agent answer it. */
export function askAgent(
  origin: string,
  sessionId: string,
  text: string,
  id = text,
): Promise<Answer> {
  const body = { events: [messageOf(id, text)], run: { streaming: true } };
  return ask(origin, `${pathOf(sessionId)}/events`, { body });
}

/** Rewinds a session. */
export function rewind(origin: string, sessionId: string, body: object): Promise<Answer> {
  return ask(origin, `${pathOf(sessionId)}/rewind`, { body });
}

/** Returns the revisions of the stored events that an answer to an append names. */
export const revisionsOf = ({ body }: Answer) =>
  (body as { eventRevisions: { seq: number; revision: number }[] }).eventRevisions;

/** Cancels the run of a message. */
export function cancel(origin: string, sessionId: string, messageId: string): Promise<Answer> {
  const path = `${pathOf(sessionId)}/run?messageId=${encodeURIComponent(messageId)}`;
  return ask(origin, path, { method: 'DELETE' });
}

export async function eventsOf(origin: string, sessionId: string): Promise<Event[]> {
  const { body } = await ask(origin, pathOf(sessionId));
  return (body as { events: Event[] }).events;
}

/** Waits until the newest event has a text. */
export async function untilText(origin: string, sessionId: string, text: string): Promise<Event[]> {
  for (const end = performance.now() + 20_000; ;) {
    const events = await eventsOf(origin, sessionId);
    if (events.at(-1)?.content?.parts?.at(-1)?.text === text) return events;
    if (performance.now() > end) throw new Error(JSON.stringify(events));
    await pause(10);
  }
}

/** Waits until something holds. */
export async function until(isTrue: () => boolean, what: () => unknown): Promise<void> {
  for (const end = performance.now() + 20_000; !isTrue(); await pause(10)) {
    if (performance.now() > end) throw new Error(JSON.stringify(what()));
  }
}
