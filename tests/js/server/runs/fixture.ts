// What the tests of runs on the server share: a session that is served, an agent, and requests for it.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Event } from '../../../../js/index.js';
import type { SessionHandlerOptions } from '../../../../js/server/index.js';
import type { RunAgent } from '../../../../js/ui/live/index.js';
import { says } from '../../ui/live/runs/agents.js';
import { KEY, serve, SESSION } from '../fixture.js';

export const EVENTS = `${SESSION}/events`;
export const RUN = `${SESSION}/run`;

export const messageJson = (id: string, text = id) => ({
  id,
  invocationId: `i-${id}`,
  author: 'user',
  content: { role: 'user', parts: [{ text }] },
});
export const asked = (id: string, more = {}) => ({
  body: { events: [messageJson(id)], run: {}, ...more },
});

/** An agent that repeats the message, and the ids of the messages that it has got. */
export function echoing(go: Promise<void> = Promise.resolve()) {
  const seen: string[] = [];
  const run: RunAgent = async function* ({ message, streaming }) {
    seen.push(message.id);
    if (streaming) yield { author: 'guide', partial: true, content: says('Gr') };
    await go;
    yield { author: 'guide', content: says(`${message.content?.parts?.[0]?.text}!`) };
  };
  return { run, seen };
}

export async function serveSession(options: Partial<SessionHandlerOptions>) {
  const served = serve({ authorize: () => true, ...options });
  await served.service.createSession(KEY);
  const events = async (): Promise<Event[]> => (await served.service.getSession(KEY))!.events;
  /** Waits until the session has so many events. */
  const until = async (count: number): Promise<Event[]> => {
    for (;;) {
      const all = await events();
      if (all.length >= count) return all;
      await sleep(5);
    }
  };
  return { ...served, events, until };
}
