// What the tests of runs in a page share: agents that wait for the test, and a store with a subscriber.

import { STORES_MESSAGE } from '../../../../../js/service/runs/agent/run_context.js';
import { InMemorySessionService, type SessionService } from '../../../../../js/index.js';
import {
  liveSession,
  type LiveSessionOptions,
  type RunAgent,
} from '../../../../../js/ui/live/index.js';
import { KEY } from '../stores.js';

export const says = (text: string) => ({ role: 'model', parts: [{ text }] });
export const asks = (text: string) => ({ role: 'user', parts: [{ text }] });

/** Answers each message at once with its text and an exclamation mark. */
export const echo: RunAgent = async function* ({ message }) {
  yield { author: 'guide', content: says(`${message.content?.parts?.[0]?.text}!`) };
};

/** A promise, and the function that resolves it. */
export function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** A store with a subscriber. */
export async function openChat(
  run: RunAgent | undefined,
  {
    service = new InMemorySessionService(),
    ...options
  }: LiveSessionOptions & { service?: SessionService } = {},
) {
  const chat = liveSession(service, KEY, { ...options, run });
  const stop = chat.subscribe(() => undefined);
  await chat.load();
  return { service, chat, stop };
}

export const textsOf = (events: readonly { content?: { parts?: { text?: string }[] } }[]) =>
  events.map(({ content }) => content?.parts?.map(({ text }) => text).join(''));

/** Makes an agent that stores its message itself, as a `Runner` does. */
export function storesMessage(agent: RunAgent): RunAgent {
  return Object.assign(agent, { [STORES_MESSAGE]: true });
}
