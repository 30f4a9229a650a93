// Events for the sessions that the package and google-adk for Python share.

import { createEvent, type Event } from '../../js/index.js';

/** One session by the names that each side has for its parts. */
export const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
export const PYTHON_KEY = { app_name: 'shop', user_id: 'ada', session_id: 's1' };

export function userEvent(text: string, stateDelta: Record<string, unknown> = {}): Event {
  return createEvent({
    author: 'user',
    content: { role: 'user', parts: [{ text }] },
    actions: { stateDelta },
  });
}

/** An event for Python's API, with its time in seconds; without a time, Python sets it. */
export function pythonEvent(text: string, state: Record<string, unknown> = {}, seconds?: number) {
  return {
    author: 'agent',
    invocation_id: 'i',
    content: { role: 'model', parts: [{ text }] },
    actions: { state_delta: state },
    ...(seconds !== undefined && { timestamp: seconds }),
  };
}

export function firstText(event: Pick<Event, 'content'>): unknown {
  return event.content?.parts?.[0]?.text;
}
