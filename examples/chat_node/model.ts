import type { Event } from 'adk-session-wasm';

/** Stands in for a model, which gets the conversation. Yield the pieces of your model's answer here. */
export async function* reply(events: readonly Event[]): AsyncGenerator<string> {
  const text = events.at(-1)?.content?.parts?.[0]?.text;
  for (const word of `Message ${Math.ceil(events.length / 2)} was: ${text}`.split(/(?<= )/)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield word;
  }
}
