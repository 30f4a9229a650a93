// What the tests of the adapters for assistant-ui share.

import { type SessionService, InMemorySessionService } from '../../../../js/index.js';
import { sessionHistory, type SessionHistory } from '../../../../js/ui/assistant_ui/index.js';

export const USER = { appName: 'shop', userId: 'ada' };
export const KEY = { ...USER, sessionId: 's1' };

type Item = Parameters<SessionHistory['append']>[0];
type Message = Item['message'];

/** A message as assistant-ui makes it. */
export const message = (
  id: string,
  role: string,
  content: Message['content'],
  more: Partial<Message> = {},
): Message => ({
  id,
  createdAt: new Date(1_700_000_000_000),
  role,
  content,
  metadata: { custom: {} },
  ...(role === 'user' && { attachments: [] }),
  ...(role === 'assistant' && { status: { type: 'complete', reason: 'stop' } }),
  ...more,
});

export const text = (text: string) => ({ type: 'text', text });

/** Returns the history of a session, whether it exists or not. */
export function historyOf(
  service: SessionService,
  remoteId: string | undefined,
  options: object = {},
): SessionHistory {
  const thread = {
    getState: () => ({ remoteId }),
    initialize: () => Promise.resolve({ remoteId: remoteId ?? '' }),
  };
  return sessionHistory({ service, ...USER, ...options }, () => thread);
}

/** Stores messages, each after the one before it, and returns what a new page loads. */
export async function reloaded(...messages: ReturnType<typeof message>[]) {
  const service = new InMemorySessionService();
  await service.createSession(KEY);
  const history = historyOf(service, 's1');
  const items = messages.map((message, index) => ({
    message,
    parentId: messages[index - 1]?.id ?? null,
  }));
  for (const item of items) await history.append(item);
  const session = await service.getSession(KEY);
  return {
    items,
    loaded: await historyOf(service, 's1').load(),
    events: session?.events ?? [],
    service,
  };
}

const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'find', args: { n: 1 } };
/** A call of a tool that has no result yet. */
export const answered = { ...call, argsText: '{"n":1}' };
