import type { Content, Part } from 'adk-session-wasm';
import type { Model } from './agent_loop.js';
import { askModel } from './ask_model.js';

/** URL of Google's models. */
const GOOGLE = 'https://generativelanguage.googleapis.com';

/**
 * A Gemini model for the agent loop, over plain `fetch`. It streams. The contents and function declarations of a
 * session already have the form of its API.
 *
 * @param key - The key of the Gemini API. A page would show it to everyone: use your own server there.
 */
export function geminiModel(key: string, name = 'gemini-2.5-flash', origin = GOOGLE): Model {
  const url = `${origin}/v1beta/models/${name}:streamGenerateContent?alt=sse`;
  return async (instruction, contents, tools, onText) => {
    const functionDeclarations = tools.map(({ declaration }) => declaration);
    const request = {
      systemInstruction: { parts: [{ text: instruction }] },
      contents,
      ...(tools.length > 0 && { tools: [{ functionDeclarations }] }),
    };
    const parts: Part[] = [];
    for await (const piece of askModel(name, url, { 'x-goog-api-key': key }, request)) {
      const { candidates } = piece as { candidates?: { content?: Content }[] };
      for (const part of candidates?.[0]?.content?.parts ?? []) {
        if (part.text && part.thought !== true) onText?.(part.text);
        addPart(parts, part);
      }
    }
    if (parts.length === 0) throw new Error(`${name} answered without content`);
    return { role: 'model', parts };
  };
}

/** Adds a part of a streamed response. A text continues the text before it. */
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  const isText = last?.text !== undefined && part.text !== undefined;
  if (isText && last.thought === part.thought)
    parts[parts.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
  else parts.push(part);
}
