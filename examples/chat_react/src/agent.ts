import type { RunAgent } from 'adk-session-wasm/live';

/**
 * The sessions of this page: in IndexedDB, where there is one. The first message titles its conversation. The package is
 * loaded beside the page, in a file of its own.
 */
export const sessions = import('adk-session-wasm').then(({ openSessionService }) =>
  openSessionService({ storage: 'auto', name: 'chat', autoTitle: true }),
);

/** Answers a message. The pieces of the answer are shown as they come, and not stored. */
export const run: RunAgent = async function* ({ message, storeMessage }) {
  const model = (text: string) => ({ role: 'model', parts: [{ text }] });
  const { state } = await storeMessage();
  let whole = '';
  for await (const piece of reply(message.content?.parts?.[0]?.text ?? '', state['user:name'])) {
    whole += piece;
    yield { author: 'guide', partial: true, content: model(piece) };
  }
  yield { author: 'guide', content: model(whole) };
};

/** Stands in for a model. Fetch a stream from your server here: the key of a model must not be in a page. */
async function* reply(text: string, name: unknown = 'guest'): AsyncGenerator<string> {
  for (const word of `Dear ${name}, you said: ${text}`.split(/(?<= )/)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield word;
  }
}
