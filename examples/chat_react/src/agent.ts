import type { LiveSession } from 'adk-session-wasm/live';

/**
 * The sessions of this page: in IndexedDB, where there is one. The first message titles its conversation. The package is
 * loaded beside the page, in a file of its own.
 */
export const sessions = import('adk-session-wasm').then(({ openSessionService }) =>
  openSessionService({ storage: 'auto', name: 'chat', autoTitle: true }),
);

/** Stores a message and its answer. The pieces of the answer are shown as they come, and not stored. */
export async function ask(chat: LiveSession, text: string): Promise<void> {
  const invocationId = crypto.randomUUID();
  const answer = { invocationId, author: 'guide' };
  const model = (text: string) => ({ role: 'model', parts: [{ text }] });
  await chat.send({ invocationId, author: 'user', content: { role: 'user', parts: [{ text }] } });
  try {
    let whole = '';
    for await (const piece of reply(text, chat.getSnapshot().state['user:name'])) {
      whole += piece;
      await chat.send({ ...answer, partial: true, content: model(piece) });
    }
    await chat.send({ ...answer, content: model(whole) });
  } catch (error) {
    chat.discardDrafts();
    throw error;
  }
}

/** Stands in for a model. Fetch a stream from your server here: the key of a model must not be in a page. */
async function* reply(text: string, name: unknown = 'guest'): AsyncGenerator<string> {
  for (const word of `Dear ${name}, you said: ${text}`.split(/(?<= )/)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield word;
  }
}
