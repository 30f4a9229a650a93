// What the tests of the adapters for assistant-ui share.

import type { BaseSessionService } from '../../../js/index.js';
import { sessionHistory, type SessionHistory } from '../../../js/assistant_ui/index.js';

export const USER = { appName: 'shop', userId: 'ada' };

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
  service: BaseSessionService,
  remoteId: string | undefined,
  options: object = {},
): SessionHistory {
  const thread = {
    getState: () => ({ remoteId }),
    initialize: () => Promise.resolve({ remoteId: remoteId ?? '' }),
  };
  return sessionHistory({ service, ...USER, ...options }, () => thread);
}
