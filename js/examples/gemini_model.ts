import type { Content } from 'adk-session-wasm';
import type { Model } from './agent_loop.js';

/** URL of Google's models. */
const GOOGLE = 'https://generativelanguage.googleapis.com';

/**
 * A Gemini model for the agent loop, over plain `fetch`. The contents and function declarations of a
 * session already have the form of its API.
 *
 * @param key - The key of the Gemini API. A page would show it to everyone: use your own server there.
 */
export function geminiModel(key: string, name = 'gemini-2.5-flash', origin = GOOGLE): Model {
  return async (instruction, contents, tools) => {
    const functionDeclarations = tools.map(({ declaration }) => declaration);
    const response = await fetch(`${origin}/v1beta/models/${name}:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify({
        systemInstruction: { parts: [{ text: instruction }] },
        contents,
        ...(tools.length > 0 && { tools: [{ functionDeclarations }] }),
      }),
    });
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`); // prettier-ignore
    const { candidates } = (await response.json()) as { candidates?: { content?: Content }[] };
    const content = candidates?.[0]?.content;
    if (content === undefined) throw new Error(`${name} answered without content`);
    return content;
  };
}
